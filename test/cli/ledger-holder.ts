/**
 * Holds the ledger and the console's tables in a folder until its scope ends, and serves commands like a server. The
 * returned function charges a call of 100 credits to a key, and returns the outcome.
 */

import { serveControl } from "@larder/serve/cli"
import {
  Administration,
  embeddedConsole,
  type LedgerAccess,
  LedgerFile,
  openLedgerFile,
  openLedgerInFile
} from "@larder/serve/ledger"
import { administerPeople, People } from "@larder/serve/people"
import { Effect, Layer } from "effect"

const call = Effect.fnUntraced(function* (ledger: LedgerAccess, token: string) {
  const key = yield* Effect.promise(() => ledger.authenticate(token, Date.now()))
  if (key === undefined) return "unknown key"
  const admission = yield* Effect.promise(() =>
    ledger.hold(key, { endpoint: "/v1/stores", scope: "search-stores", credits: 100 }, Date.now())
  )
  if ("refused" in admission) return admission.refused
  yield* Effect.tryPromise(() => admission.held.capture(`req_${crypto.randomUUID()}`))
  return "charged"
})

export const holdLedger = Effect.fnUntraced(function* (directory: string) {
  const file = yield* openLedgerFile(directory)
  const ledger = yield* openLedgerInFile(file)
  const tables = Layer.provide(embeddedConsole, Layer.succeed(LedgerFile, file))
  const services = yield* Layer.build(Layer.provide(People.layer, tables))
  const people = yield* administerPeople(() => "http://console.example").pipe(
    Effect.provideService(Administration, ledger.administration),
    Effect.provide(services)
  )
  yield* serveControl(directory, ledger.administration, people)
  return (token: string) => call(ledger, token)
})
