/** The credits of a call that fails after its hold. Tests over HTTP cover the rest of the pipeline. */
import { assert, describe, it } from "@effect/vitest"
import { getCommodityPrices, unknownRecord } from "@larder/schemas"
import { liveAndEmpty } from "@larder/test/support/serve/empty-generation.ts"
import { memoryStore } from "@larder/test/support/serve/memory-store.ts"
import { Deferred, Effect } from "effect"
import { vi } from "vitest"
import { openLedgerOver } from "../ledger/embedded/embedded-ledger.ts"
import { makeLimiter } from "./fairness/limiter.ts"
import { makeMeters } from "./meters.ts"
import { makePipeline } from "./pipeline.ts"
import { formatRecord, type Reading, route } from "./route.ts"

/** A pipeline over a real ledger; the test provides the read of its only endpoint. */
const makeTestPipeline = Effect.fnUntraced(function* (read: () => Reading) {
  const store = memoryStore()
  const ledger = yield* openLedgerOver(store)
  const { id } = yield* ledger.administration.createAccount({ name: "A" })
  const { key } = yield* ledger.administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-commodity-prices"],
    budget_credits: 5_000
  })
  const reports: Array<string> = []
  const patiences: Array<number | undefined> = []
  const hold: typeof ledger.hold = async (...call) => {
    const admission = await ledger.hold(...call)
    if ("refused" in admission) return admission
    const { capture, release } = admission.held
    const noted: typeof capture = (requestId, options) => {
      patiences.push(options?.patience)
      return capture(requestId, options)
    }
    return { held: { capture: noted, release } }
  }
  const clock = { now: Date.now() }
  const pipeline = makePipeline({
    ledger: { ...ledger, hold },
    live: liveAndEmpty,
    limiter: makeLimiter(),
    meters: makeMeters(),
    now: () => clock.now,
    publicUrl: undefined,
    run: Effect.runPromiseExit,
    onResponse: () => {},
    report: (message) => reports.push(message)
  })
  /** The response counts as unsent until the test releases its permit. */
  const callUnsent = (signal = new AbortController().signal) =>
    pipeline.handle({
      route: route(getCommodityPrices, { expectedBytes: () => 0, read }),
      id: "",
      query: new URLSearchParams("series=a"),
      authorization: `Bearer ${key}`,
      isOnDataHost: false,
      signal,
      requestBytes: () => 0,
      callerIds: () => ({})
    })
  const call = async (signal?: AbortSignal) => {
    const response = await callUnsent(signal)
    response.permit?.release()
    return response
  }
  const listCharges = () => store.entries.filter(({ type }) => type === "charge")
  return { call, clock, listCharges, patiences, reports, store, callUnsent }
})

const refuse = () => formatRecord(undefined, unknownRecord("store", "x"))
const fail = () => {
  throw new Error("secret detail")
}

describe("a call that fails after its hold", () => {
  it.live("costs nothing if the caller disconnects during the read, and releases the hold", () =>
    Effect.gen(function* () {
      const reading = yield* Deferred.make<void>()
      const { call, listCharges, reports } = yield* makeTestPipeline(() =>
        Effect.andThen(Deferred.succeed(reading, undefined), Effect.never)
      )
      const caller = new AbortController()
      const response = call(caller.signal)
      yield* Deferred.await(reading)
      caller.abort()
      const { headers } = yield* Effect.promise(() => response)
      assert.deepStrictEqual(listCharges(), [])
      assert.strictEqual(headers["x-credits-charged"], "0")
      assert.strictEqual(headers["x-credits-remaining"], "5000")
      assert.deepStrictEqual(reports, [])
    }).pipe(Effect.scoped)
  )

  it.live("costs nothing if the caller disconnects before the capture", () =>
    Effect.gen(function* () {
      const caller = new AbortController()
      const disconnect = Effect.sync(() => caller.abort())
      const { call, listCharges } = yield* makeTestPipeline(() => Effect.as(disconnect, '{"data":[]}'))
      yield* Effect.promise(() => call(caller.signal))
      assert.deepStrictEqual(listCharges(), [])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    { kind: "from memory", read: fail },
    { kind: "that waits", read: () => Effect.sync(fail) }
  ])("costs nothing if a read $kind fails, and only the operator gets the details", ({ read }) =>
    Effect.gen(function* () {
      const { call, listCharges, reports } = yield* makeTestPipeline(read)
      const { body, headers, status } = yield* Effect.promise(() => call())
      assert.strictEqual(status, 500)
      assert.strictEqual(headers["x-error-code"], "internal")
      assert.strictEqual(body, '{"error":{"type":"internal","message":"An unexpected error occurred"}}')
      assert.strictEqual(headers["x-credits-remaining"], "5000")
      assert.deepStrictEqual(listCharges(), [])
      assert.deepStrictEqual(reports, ["a read failed"])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    { kind: "from memory", read: refuse },
    { kind: "that waits", read: () => Effect.sync(refuse) }
  ])("costs nothing if no record has the id, in a read $kind", ({ read }) =>
    Effect.gen(function* () {
      const { call, listCharges } = yield* makeTestPipeline(read)
      const { body, status } = yield* Effect.promise(() => call())
      assert.strictEqual(status, 404)
      assert.strictEqual(body, '{"error":{"type":"not_found","message":"Unknown store: x"}}')
      assert.deepStrictEqual(listCharges(), [])
    }).pipe(Effect.scoped)
  )

  it.live("responds with 503 and Retry-After if the charge cannot be written, and charges the next call", () =>
    Effect.gen(function* () {
      const { call, clock, listCharges, reports, store } = yield* makeTestPipeline(() => '{"data":[]}')
      store.failure = new Error("disk full")
      yield* Effect.promise(() => Promise.all([call(), call()]))
      const refused = yield* Effect.promise(() => call())
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.strictEqual(refused.headers["x-error-code"], "ledger_unavailable")
      assert.strictEqual(refused.headers["x-credits-remaining"], "5000")
      assert.deepStrictEqual(reports, ["a charge could not be written"]) // once, not for each call
      store.failure = undefined
      const charged = yield* Effect.promise(() => call())
      assert.strictEqual(charged.status, 200)
      assert.strictEqual(charged.headers["x-credits-remaining"], "4990")
      assert.strictEqual(listCharges().length, 1)
      store.failure = new Error("disk full again")
      for (const seconds of [9, 1]) {
        clock.now += seconds * 1_000
        yield* Effect.promise(() => call())
      }
      assert.strictEqual(reports.length, 2) // ten seconds after the first
    }).pipe(Effect.scoped)
  )
})

describe("too many concurrent calls", () => {
  it.live("are refused with 503 and Retry-After beyond 4,000, and only responses with 200 are charged", () =>
    Effect.gen(function* () {
      const finishReads = yield* Deferred.make<void>()
      const { call, listCharges } = yield* makeTestPipeline(() => Effect.as(Deferred.await(finishReads), '{"data":[]}'))
      const waiting = Array.from({ length: 4_000 }, () => call())
      const { headers, status } = yield* Effect.promise(() => call())
      assert.strictEqual(status, 503)
      assert.strictEqual(headers["retry-after"], "1")
      assert.strictEqual(headers["x-error-code"], "overloaded")
      yield* Deferred.succeed(finishReads, undefined)
      const responses = yield* Effect.promise(() => Promise.all(waiting))
      assert.notInclude(
        responses.map(({ headers }) => headers["x-error-code"]),
        "overloaded"
      )
      const paidCount = responses.filter((response) => response.status === 200).length
      assert.strictEqual(paidCount, 500) // 5,000 credits are 500 calls
      assert.strictEqual(listCharges().length, 500)
    }).pipe(Effect.scoped)
  )
})

describe("calls that are refused after they have got a permit", () => {
  it.live("release it: more calls can follow than a key can have in flight", () =>
    Effect.gen(function* () {
      const { call } = yield* makeTestPipeline(refuse)
      for (let calls = 0; calls <= 1024; calls++) {
        const { status } = yield* Effect.promise(() => call())
        assert.strictEqual(status, 404)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a key with unread responses", () => {
  it.live("waits five seconds for capacity, then gets 503 with Retry-After, and costs nothing", () =>
    Effect.gen(function* () {
      const { call, listCharges, callUnsent } = yield* makeTestPipeline(() => `{"data":"${"x".repeat(5_000_000)}"}`)
      const responses = yield* Effect.promise(() => Promise.all([callUnsent(), callUnsent()]))
      assert.deepStrictEqual(
        responses.map(({ status }) => status),
        [200, 200]
      )
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      const waiting = call()
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(5_000))
      vi.useRealTimers()
      const { headers, status } = yield* Effect.promise(() => waiting)
      assert.strictEqual(status, 503)
      assert.strictEqual(headers["retry-after"], "1")
      assert.strictEqual(headers["x-error-code"], "too_many_in_flight")
      assert.strictEqual(headers["x-credits-charged"], "0")
      assert.strictEqual(listCharges().length, 2)
      responses[0]?.permit?.release()
      const next = yield* Effect.promise(() => call())
      assert.strictEqual(next.status, 200)
    }).pipe(Effect.scoped)
  )
})

describe("the charge of a call", () => {
  it.live("may wait for others a tenth as long as the call has taken, and at most 10 ms", () =>
    Effect.gen(function* () {
      const now = performance.now()
      let took = 0
      const clock = vi.spyOn(performance, "now").mockImplementation(() => now + took)
      yield* Effect.addFinalizer(() => Effect.sync(() => clock.mockRestore()))
      const durations = [0, 5, 50, 5_000]
      const { call, patiences } = yield* makeTestPipeline(() => {
        took += durations[patiences.length] ?? 0
        return "{}"
      })
      for (const _ of durations) yield* Effect.promise(() => call())
      assert.deepStrictEqual(
        patiences.map((patience) => Math.round((patience ?? Number.NaN) * 10)),
        [0, 5, 50, 100] // tenths of a millisecond
      )
    }).pipe(Effect.scoped)
  )
})
