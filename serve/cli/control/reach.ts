/**
 * Opens the ledger for one command: in PostgreSQL if `LARDER_LEDGER_URL` is set; otherwise in its folder if no process
 * has locked it, or through the server that has. If that process does not respond, the command retries for a while: a
 * server may be starting or stopping, or another command may be running. The console's tables, and so the people, are
 * in the same place, and are reached the same way.
 */
import path from "node:path"
import { Effect, Exit, Layer, Option, type Redacted, Schedule, Scope } from "effect"
import {
  Administration,
  embeddedConsole,
  LedgerFile,
  openLedgerFile,
  openLedgerInFile,
  postgresConsole,
  ServerUnreachable
} from "../../ledger/index.ts"
import { mailFromSettings, openSmtpMailer } from "../../mail/index.ts"
import { administerPeople, People, PeopleAdministration } from "../../people/index.ts"
import { Actor, describeCommand } from "../../persistence/index.ts"
import { consoleUrlSetting, ledgerUrlSetting } from "../../settings.ts"
import { currentUser, findRunningServer, type RunningServer } from "./client.ts"
import { explainLostAnswers, openDatabase, reachDatabase } from "./database.ts"

export const ledgerDirectoryIn = (home: string) => path.resolve(home, "ledger")

/** Half a minute: a server with 100,000 keys starts in about three seconds, and ten commands may be waiting in line. */
const retries = { schedule: Schedule.spaced("200 millis"), times: 150 }

type Access = { readonly administration: Administration["Service"] } & (
  | { readonly kind: "server"; readonly server: RunningServer }
  | { readonly kind: "file"; readonly file: LedgerFile["Service"] }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }
)

/** Opens the ledger in this process until the scope ends. A failed attempt closes what it has opened. */
const openInProcess = Effect.fnUntraced(function* (directory: string) {
  const attempt = yield* Scope.make()
  const reached = yield* Effect.gen(function* () {
    const file = yield* openLedgerFile(directory)
    const { administration } = yield* openLedgerInFile(file)
    return { kind: "file", file, administration } satisfies Access as Access
  }).pipe(
    Scope.provide(attempt),
    Effect.onError(() => Scope.close(attempt, Exit.void))
  )
  yield* Effect.addFinalizer((exit) => Scope.close(attempt, exit))
  return reached
})

const reachLedger = Effect.fn("Ledger.reach")(function* (home: string) {
  const url = yield* ledgerUrlSetting
  if (Option.isSome(url)) {
    const administration = yield* reachDatabase(url.value)
    return { kind: "postgres", url: url.value, administration } satisfies Access as Access
  }
  const directory = ledgerDirectoryIn(home)
  return yield* openInProcess(directory).pipe(
    Effect.catchTag("LedgerInUse", (inUse) =>
      Effect.flatMap(
        findRunningServer(directory),
        Option.match({
          onNone: () => Effect.fail(inUse),
          onSome: (server) => Effect.succeed<Access>({ kind: "server", server, administration: server.administration })
        })
      )
    ),
    Effect.retry({ ...retries, while: (error) => error._tag === "LedgerInUse" }),
    Effect.catchTag(
      "LedgerInUse",
      ({ file }) =>
        new ServerUnreachable({
          problem: `${file} is in use by another process, which does not respond like larder-serve. A server that starts on a restored ledger first computes its sums, which takes about ten seconds per million entries: try again later. If it is not such a server, stop the process.`
        })
    )
  )
})

/** For the log of what this command changes. A server that makes the change gets the user from the command. */
const layerActor = Layer.effect(Actor, Effect.map(currentUser, describeCommand))

export const layerAdministration = (home: string) =>
  Layer.effect(
    Administration,
    Effect.map(reachLedger(home), ({ administration }) => administration)
  ).pipe(Layer.merge(layerActor))

const reachPeople = Effect.fn("People.reach")(function* (home: string) {
  const reached = yield* reachLedger(home)
  if (reached.kind === "server") return reached.server.people
  const database =
    reached.kind === "file"
      ? Layer.provide(embeddedConsole, Layer.succeed(LedgerFile, reached.file))
      : Layer.effectContext(openDatabase(Layer.build(postgresConsole(reached.url))))
  const consoleUrl = yield* consoleUrlSetting
  const mail = yield* mailFromSettings
  const context = yield* Layer.build(Layer.provide(People.layer, database))
  const people = yield* administerPeople(() => consoleUrl, mail && openSmtpMailer(mail)).pipe(
    Effect.provideService(Administration, reached.administration),
    Effect.provide(context)
  )
  return reached.kind === "postgres" ? explainLostAnswers(people) : people
})

export const layerPeopleAdministration = (home: string) =>
  Layer.effect(PeopleAdministration, reachPeople(home)).pipe(Layer.merge(layerActor))
