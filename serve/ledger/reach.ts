/**
 * The ledger for one command: in PostgreSQL where `LARDER_LEDGER_URL` says so; else opened in its folder where nobody holds
 * it, or through the server that does. Whoever finds it held and nobody answering waits a little: a server is starting or
 * stopping, or another command is at work.
 */
import path from "node:path"
import { Effect, Exit, Layer, Option, Schedule, Scope } from "effect"
import { runningServer, type Server } from "../control/client.ts"
import { ledgerUrlSetting } from "../settings.ts"
import { Administration, ServerUnreachable } from "./administration.ts"
import { embeddedLedger } from "./embedded/embedded-ledger.ts"
import type { LedgerInUse } from "./errors.ts"
import { administer } from "./postgres/administer.ts"
import { connect } from "./postgres/database.ts"

export const ledgerDirectoryIn = (home: string) => path.resolve(home, "ledger")

/** Half a minute: a server with 100,000 keys starts in six seconds on a quiet machine, and ten commands may stand in line. */
const patience = { every: "200 millis", times: 150 } as const

/** Opens the ledger in this process, until the scope ends. An attempt that fails leaves nothing behind. */
const openHere = Effect.fnUntraced(function* (directory: string) {
  const attempt = yield* Scope.make()
  const ledger = yield* embeddedLedger(directory).pipe(
    Scope.provide(attempt),
    Effect.onError(() => Scope.close(attempt, Exit.void))
  )
  yield* Effect.addFinalizer((exit) => Scope.close(attempt, exit))
  return ledger.administration
})

const elsewhere = (directory: string) => (inUse: LedgerInUse) =>
  Effect.flatMap(runningServer(directory), (server) =>
    Option.isSome(server) ? Effect.succeed(through(server.value)) : Effect.fail(inUse)
  )

/** The ledger for one command, and the running server where the command goes through one. */
interface Reached {
  readonly administration: Administration["Service"]
  readonly server: Option.Option<Server>
}
const through = (server: Server): Reached => ({ administration: server.administration, server: Option.some(server) })
const without = (administration: Administration["Service"]): Reached => ({ administration, server: Option.none() })

export const reachLedger = Effect.fn("Ledger.reach")(function* (home: string) {
  const url = yield* ledgerUrlSetting
  if (Option.isSome(url)) return without(administer(yield* connect(url.value)))
  const directory = ledgerDirectoryIn(home)
  return yield* Effect.map(openHere(directory), without).pipe(
    Effect.catchTag("LedgerInUse", elsewhere(directory)),
    Effect.retry({
      schedule: Schedule.spaced(patience.every),
      times: patience.times,
      while: (error) => error._tag === "LedgerInUse"
    }),
    Effect.catchTag("LedgerInUse", ({ file }) =>
      Effect.fail(
        new ServerUnreachable({
          problem: `${file} is held by another process, which does not answer as larder-serve does. Close it (a DuckDB client that has the ledger open?) and try again.`
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
