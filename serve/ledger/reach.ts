/**
 * The ledger for one command: opened directly where nobody holds it, else through the server that does. Whoever finds it
 * held and nobody answering waits a little: a server is starting or stopping, or another command is at work.
 */
import path from "node:path"
import { Effect, Exit, Layer, Option, Schedule, Scope } from "effect"
import { runningServer } from "../control/client.ts"
import { Administration, ServerUnreachable } from "./administration.ts"
import { embeddedStore } from "./embedded-store.ts"
import { Ledger } from "./ledger.ts"
import type { LedgerInUse } from "./store.ts"

export const ledgerDirectoryIn = (home: string) => path.resolve(home, "ledger")

const patience = { every: "200 millis", times: 25 } as const // five seconds

/** Opens the ledger in this process, until the scope ends. An attempt that fails leaves nothing behind. */
const openHere = Effect.fnUntraced(function* (directory: string) {
  const attempt = yield* Scope.make()
  const ledger = yield* embeddedStore(directory).pipe(
    Effect.flatMap(Ledger.make),
    Scope.provide(attempt),
    Effect.onError(() => Scope.close(attempt, Exit.void))
  )
  yield* Effect.addFinalizer((exit) => Scope.close(attempt, exit))
  return ledger.administration
})

const elsewhere = (directory: string) => (inUse: LedgerInUse) =>
  Effect.flatMap(runningServer(directory), (server) =>
    Option.isSome(server) ? Effect.succeed(server.value) : Effect.fail(inUse)
  )

export const reach = Effect.fn("Ledger.reach")(function* (home: string) {
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
          problem: `${file} is held by another process, which does not answer as larder-serve does. Close it (a DuckDB client that has the ledger open?) and try again.`
        })
      )
    )
  )
})

export const layerAdministration = (home: string) => Layer.effect(Administration, reach(home))
