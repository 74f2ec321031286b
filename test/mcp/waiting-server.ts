/**
 * A server whose one tool waits until the test lets it go, over a real ledger in a folder of its own, and a key that may
 * call it: for calls whose client goes away while they are read.
 */

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { getCommodityPrices } from "@larder/schemas"
import { listen, makeApi, makeMeters, makePipeline, makeTurns, route } from "@larder/serve/api"
import { openEmbeddedLedger } from "@larder/serve/ledger"
import { makeAssistants } from "@larder/serve/mcp"
import { Deferred, Effect, Stream } from "effect"
import { expect } from "vitest"
import { liveAndEmpty } from "../support/serve/empty-generation.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-waiting-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const waitingServer = Effect.gen(function* () {
  const ledger = yield* openEmbeddedLedger(yield* temporaryFolder)
  const { id: account_id } = yield* ledger.administration.createAccount({ name: "A" })
  const { key } = yield* ledger.administration.createKey({
    account_id,
    name: "k",
    scopes: ["get-commodity-prices"],
    budget_credits: 5_000
  })
  const reading = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const statuses: Array<number> = []
  const answered = yield* Deferred.make<void>()
  const report = () => expect.unreachable("the operator is told of nothing")
  const turns = makeTurns()
  const pipeline = makePipeline({
    ledger,
    live: liveAndEmpty,
    turns,
    meters: makeMeters(),
    now: Date.now,
    publicUrl: undefined,
    run: Effect.runPromiseExit,
    onAnswer: ({ status }) => {
      statuses.push(status)
      Deferred.doneUnsafe(answered, Effect.void)
    },
    report
  })
  const waits = Effect.as(Effect.andThen(Deferred.succeed(reading, undefined), Deferred.await(go)), '{"data":[]}')
  const routes = [route(getCommodityPrices, { read: () => waits })]
  const about = { pipeline, routes, turns, report, version: "1" }
  const assistants = makeAssistants({
    ...about,
    ledger,
    dataHeaders: () => ({}),
    publicUrl: undefined,
    origins: new Set()
  })
  const app = makeApi({
    ...about,
    assistants,
    docs: () => {},
    dataHost: undefined,
    publicUrl: undefined,
    listening: () => "http://127.0.0.1",
    consoleFor: () => undefined,
    samples: () => undefined
  })
  const url = yield* listen(app, { what: "API", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" })
  return {
    url,
    key,
    /** The tool is being read. */
    reading: Deferred.await(reading),
    /** Lets it go. */
    go: Deferred.succeed(go, undefined),
    answered: Deferred.await(answered),
    statuses,
    /** Their number, as the ledger has them. */
    charges: Stream.runCollect(ledger.administration.entriesOf(account_id)).pipe(
      Effect.map((entries) => entries.filter(({ type }) => type === "charge").length),
      Effect.orDie
    )
  }
})
