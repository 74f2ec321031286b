/** Responses of `/mcp` to failures outside the protocol. */
import { assert, describe, it } from "@effect/vitest"
import { memoryStore } from "@larder/test/support/serve/memory-store.ts"
import { Effect } from "effect"
import { makeLimiter, makeMeters, makePipeline, routes } from "../api/index.ts"
import { openLedgerOver } from "../ledger/embedded/embedded-ledger.ts"
import { type LedgerAccess, LedgerUnavailable } from "../ledger/index.ts"
import { isAllowedOrigin, makeMcpHandler } from "./assistants.ts"

/** `/mcp` over a ledger, with its reports to the operator. */
const openConnection = Effect.fnUntraced(function* (
  change: (ledger: LedgerAccess) => Partial<LedgerAccess> = () => ({})
) {
  const openLedger = yield* openLedgerOver(memoryStore())
  const { id } = yield* openLedger.administration.createAccount({ name: "A" })
  const { key } = yield* openLedger.administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-store"],
    budget_credits: 5_000
  })
  const ledger = { ...openLedger, ...change(openLedger) }
  const reports: Array<readonly [message: string, request_id: unknown]> = []
  const report = (message: string, { request_id }: Readonly<Record<string, unknown>>) =>
    reports.push([message, request_id])
  const live = {
    current: () => assert.fail("no data is requested"),
    use: () => assert.fail("no data is requested"),
    swaps: () => 0,
    fault: () => undefined,
    unserved: () => new Set<string>()
  }
  const limiter = makeLimiter()
  const pipeline = makePipeline({
    live,
    ledger,
    limiter,
    meters: makeMeters(),
    now: Date.now,
    publicUrl: undefined,
    run: Effect.runPromiseExit,
    onResponse: () => {},
    report
  })
  const assistants = makeMcpHandler({
    pipeline,
    routes,
    ledger,
    limiter,
    dataHeaders: () => ({}),
    report,
    version: "1",
    publicUrl: undefined,
    origins: new Set()
  })
  const post = (body: string | ReadableStream) =>
    Effect.promise(() =>
      assistants(
        new Request("http://127.0.0.1/mcp", {
          method: "POST",
          body,
          duplex: "half",
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream"
          }
        }),
        false
      )
    )
  return { post, reports }
})
const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })

describe("the assistant connection", () => {
  it.effect("responds with 503 and Retry-After while the ledger is unavailable", () =>
    Effect.gen(function* () {
      const unavailable = new LedgerUnavailable({ action: "look up a key", cause: new Error("unreachable") })
      const { post, reports } = yield* openConnection(() => ({ authenticate: () => Promise.reject(unavailable) }))
      const { body, headers, status } = yield* post(list)
      assert.deepStrictEqual(
        [status, headers["retry-after"], headers["x-error-code"]],
        [503, "1", "ledger_unavailable"]
      )
      assert.strictEqual(JSON.parse(body).error.type, "internal")
      assert.isEmpty(reports) // the ledger itself reports it
    }).pipe(Effect.scoped)
  )
  it.effect(
    "responds with 500 to an unexpected error, hides its message and reports it to the operator with the id that the caller got",
    () =>
      Effect.gen(function* () {
        const { post, reports } = yield* openConnection(() => ({
          authenticate: () => Promise.reject(new Error("secret"))
        }))
        const { body, headers, status } = yield* post(list)
        assert.deepStrictEqual([status, reports], [500, [["an MCP request failed", headers["x-request-id"]]]])
        assert.strictEqual(headers["x-error-code"], "internal")
        assert.notInclude(body, "secret")
      }).pipe(Effect.scoped)
  )
  it.effect("responds with 400 to an upload that is cut off, and reports nothing to the operator", () =>
    Effect.gen(function* () {
      const { post, reports } = yield* openConnection()
      const broken = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(list.slice(0, 10)))
          controller.error(new Error("the client has disconnected"))
        }
      })
      const { body, headers, status } = yield* post(broken)
      assert.deepStrictEqual([status, JSON.parse(body).error.code, reports], [400, -32_700, []])
      assert.deepStrictEqual([headers["x-credits-charged"], headers["x-credits-remaining"]], ["0", "5000"])
      assert.strictEqual((yield* post(list)).status, 200)
    }).pipe(Effect.scoped)
  )
})

const ownOrigins = new Set(["https://api.example.com", "http://192.168.1.5:8080"])

describe("the origin of a page that calls tools", () => {
  it.each([
    "https://api.example.com",
    "http://192.168.1.5:8080",
    "http://localhost:6274",
    "http://127.0.0.1",
    "http://[::1]:8080"
  ])("allows %s", (origin) => assert.isTrue(isAllowedOrigin(origin, ownOrigins)))
  it.each([
    ["https://evil.example"],
    ["http://api.example.com"],
    ["https://api.example.com.evil.example"],
    ["https://api.example.com:444"],
    ["http://192.168.1.5"],
    ["http://localhost.evil.example"],
    ["http://127.0.0.1.evil.example"],
    ["http://localhost/"],
    ["ftp://localhost"],
    ["null"],
    [""]
  ])("rejects %o", (origin) => assert.isFalse(isAllowedOrigin(origin, ownOrigins)))
})
