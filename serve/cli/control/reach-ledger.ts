/**
 * Opens the ledger for one command: in PostgreSQL if `LARDER_LEDGER_URL` is set; otherwise in its folder if no process
 * holds it, or through the server that holds it. If the holder does not answer, the command retries for a while: a
 * server may be starting or stopping, or another command may be running.
 */
import path from "node:path"
import { Effect, Exit, Layer, Option, type Redacted, Schedule, Scope } from "effect"
import {
  Administration,
  administerPostgres,
  connect,
  type LedgerFile,
  type LedgerInUse,
  openLedgerFile,
  openLedgerInFile,
  ServerUnreachable
} from "../../ledger/index.ts"
import { ledgerUrlSetting } from "../../settings.ts"
import { runningServer, type Server } from "./client.ts"

export const ledgerDirectoryIn = (home: string) => path.resolve(home, "ledger")

/** Half a minute: a server with 100,000 keys starts in about three seconds, and ten commands may be waiting in line. */
const patience = { every: "200 millis", times: 150 } as const

/** Opens the ledger in this process until the scope ends. A failed attempt leaves nothing behind. */
const openHere = Effect.fnUntraced(function* (directory: string) {
  const attempt = yield* Scope.make()
  const opened = Effect.gen(function* () {
    const file = yield* openLedgerFile(directory)
    const { administration } = yield* openLedgerInFile(file, "command")
    const reached: Reached = { at: "file", file, administration }
    return reached
  })
  const here = yield* opened.pipe(
    Scope.provide(attempt),
    Effect.onError(() => Scope.close(attempt, Exit.void))
  )
  yield* Effect.addFinalizer((exit) => Scope.close(attempt, exit))
  return here
})

const elsewhere = (directory: string) => (inUse: LedgerInUse) =>
  Effect.flatMap(runningServer(directory), (server) =>
    Option.isSome(server) ? Effect.succeed(through(server.value)) : Effect.fail(inUse)
  )

/** The ledger for one command, and how it was reached. */
type Reached = { readonly administration: Administration["Service"] } & (
  | { readonly at: "server"; readonly server: Server }
  | { readonly at: "file"; readonly file: LedgerFile["Service"] }
  | { readonly at: "postgres"; readonly url: Redacted.Redacted }
)
const through = (server: Server): Reached => ({ at: "server", server, administration: server.administration })

export const reachLedger = Effect.fn("Ledger.reach")(function* (home: string) {
  const url = yield* ledgerUrlSetting
  if (Option.isSome(url)) {
    const reached: Reached = {
      at: "postgres",
      url: url.value,
      administration: administerPostgres(yield* connect(url.value))
    }
    return reached
  }
  const directory = ledgerDirectoryIn(home)
  return yield* openHere(directory).pipe(
    Effect.catchTag("LedgerInUse", elsewhere(directory)),
    Effect.retry({
      schedule: Schedule.spaced(patience.every),
      times: patience.times,
      while: (error) => error._tag === "LedgerInUse"
    }),
    Effect.catchTag("LedgerInUse", ({ file }) =>
      Effect.fail(
        new ServerUnreachable({
          problem: `${file} is held by another process, which does not answer as larder-serve does. A server that starts on a restored ledger sums it up first, some ten seconds for a million entries: then try again. Otherwise end it.`
        })
      )
    )
  )
})

export const layerAdministration = (home: string) =>
  Layer.effect(
    Administration,
    Effect.map(reachLedger(home), ({ administration }) => administration)
  )
