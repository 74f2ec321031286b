/**
 * A server with one tool, whose read waits until the test finishes it, with a real ledger in a temporary folder and a
 * valid key: for calls whose client disconnects while they are read.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { getCommodityPrices } from "@larder/schemas"
import { listen, makeApi, makeLimiter, makeMeters, makePipeline } from "@larder/serve/api"
import { route } from "@larder/serve/api/route.ts"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { makeMcpHandler } from "@larder/serve/mcp"
import { emptyCommodities } from "@larder/warehouse"
import { Deferred, Effect, Stream } from "effect"
import { expect } from "vitest"
import { liveAndEmpty } from "../support/serve/empty-generation.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-waiting-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const startWaitingServer = Effect.gen(function* () {
  const ledger = yield* openEmbeddedLedger(yield* temporaryFolder)
  const { id: account_id } = yield* ledger.administration.createAccount({ name: "A" })
  const { key } = yield* ledger.administration.createKey({
    account_id,
    name: "k",
    scopes: ["get-commodity-prices"],
    budget_credits: 5_000
  })
  const reading = yield* Deferred.make<void>()
  const finish = yield* Deferred.make<void>()
  const statuses: Array<number> = []
  const responded = yield* Deferred.make<void>()
  const report = () => expect.unreachable("nothing should be reported to the operator")
  const limiter = makeLimiter()
  const pipeline = makePipeline({
    ledger,
    live: liveAndEmpty,
    limiter,
    meters: makeMeters(),
    now: Date.now,
    publicUrl: undefined,
    run: Effect.runPromiseExit,
    onResponse: ({ status }) => {
      statuses.push(status)
      Deferred.doneUnsafe(responded, Effect.void)
    },
    report
  })
  const waitForTest = Effect.as(
    Effect.andThen(Deferred.succeed(reading, undefined), Deferred.await(finish)),
    '{"data":[]}'
  )
  const routes = [route(getCommodityPrices, { read: () => waitForTest })]
  const common = { pipeline, routes, limiter, report, version: "1" }
  const assistants = makeMcpHandler({
    ...common,
    ledger,
    dataHeaders: () => ({}),
    publicUrl: undefined,
    origins: new Set()
  })
  const app = makeApi({
    ...common,
    assistants,
    docs: () => {},
    dataHost: undefined,
    publicUrl: undefined,
    getListenerUrl: () => "http://127.0.0.1",
    findConsoleUrl: () => undefined,
    sampleNotice: () => undefined,
    commodities: () => emptyCommodities
  })
  const url = yield* listen(app, { name: "API", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" })
  return {
    url,
    key,
    /** Completes when the read of the tool has started. */
    reading: Deferred.await(reading),
    finishRead: Deferred.succeed(finish, undefined),
    responded: Deferred.await(responded),
    statuses,
    /** The number of charges in the ledger. */
    charges: Stream.runCollect(ledger.administration.entriesOf(account_id)).pipe(
      Effect.map((entries) => entries.filter(({ type }) => type === "charge").length),
      Effect.orDie
    )
  }
})
