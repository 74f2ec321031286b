/**
 * The server without authentication and ledger: the same listener, routes and pipeline, with a ledger that accepts every
 * key and call, and writes nothing. Prints its address.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { scopes } from "@larder/schemas"
import { listen, makeApi, makeLimiter, makeMeters, makePipeline, makeReadModel, routes } from "@larder/serve/api"
import { addDocs } from "@larder/serve/docs"
import type { LedgerAccess } from "@larder/serve/ledger"
import { makeMcpHandler } from "@larder/serve/mcp"
import { layoutOf, watchLive } from "@larder/warehouse"
import { Effect } from "effect"

const key = { id: "key_bench", account_id: "acct_bench", name: "bench", scopes: new Set(scopes), revision: 1 }
const charged = Promise.resolve("charged")
const admission = { held: { capture: () => charged, release: () => {} } }
const ledger = {
  authenticate: async () => key,
  isCurrent: async () => true,
  hold: async () => admission,
  remaining: () => 1_000_000
} as unknown as LedgerAccess // all that the pipeline uses
const report = () => {}

const open = Effect.gen(function* () {
  const layout = yield* layoutOf(process.argv[2] ?? "")
  const live = yield* watchLive(layout, makeReadModel(layout))
  const context = yield* Effect.context<never>()
  const limiter = makeLimiter()
  const pipeline = makePipeline({
    live,
    ledger,
    limiter,
    meters: makeMeters(),
    now: Date.now,
    publicUrl: undefined,
    run: Effect.runPromiseExitWith(context),
    onResponse: () => {},
    report
  })
  const version = "bench"
  const assistants = makeMcpHandler({
    pipeline,
    routes,
    ledger,
    limiter,
    dataHeaders: () => ({}),
    report,
    version,
    publicUrl: undefined,
    origins: new Set()
  })
  const app = makeApi({
    pipeline,
    routes,
    assistants,
    docs: addDocs,
    limiter,
    report,
    version,
    dataHost: undefined,
    publicUrl: undefined,
    getListenerUrl: () => "http://127.0.0.1",
    findConsoleUrl: () => undefined,
    sampleNotice: () => undefined,
    commodities: () => live.current().model.commodities
  })
  const api = yield* listen(app, { name: "API", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" })
  console.log(JSON.stringify({ api }))
  yield* Effect.never
})

await Effect.runPromise(open.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
