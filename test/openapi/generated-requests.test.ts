/**
 * Requests generated from the served document, over HTTP, with keys that can pay, lack scopes or cannot pay. Each
 * response must be documented, and the ledger must have the same charges as the responses (`useSharedServer` compares them).
 *
 * A failure prints the seed and the shortest failing request that fast-check has found. `LARDER_TEST_SEED` repeats the
 * requests, and `LARDER_TEST_RUNS` sets their number.
 */
import assert from "node:assert/strict"
import { type Scope, scopes } from "@larder/schemas"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import type { Reply } from "../support/api/check-response.ts"
import type { Options } from "../support/api/client.ts"
import { administer, createKey, type KeySettings } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"
import { expectResponse, readId } from "./expected-response.ts"
import { type Caller, type GeneratedRequest, generateRequest } from "./generate-requests.ts"
import { fetchKnownNames, type KnownNames } from "./known-names.ts"

const api = useSharedServer()

const readInteger = (variable: string): number | undefined => {
  const text = process.env[variable]
  if (text === undefined || text === "") return undefined
  assert.match(text, /^-?\d{1,10}$/, `${variable} must be an integer`)
  return Number(text)
}
const runs = readInteger("LARDER_TEST_RUNS") ?? 1_800
const seed = readInteger("LARDER_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31)

interface KeyState {
  readonly options: Options
  readonly scopes: ReadonlySet<Scope>
  /** Credits that the key can still spend, according to the last response. */
  remaining: number
}
const keys = new Map<Caller, KeyState>()
const findKey = (caller: Caller): KeyState => {
  const key = keys.get(caller)
  if (key === undefined) throw new Error(`there is no key for ${caller}`)
  return key
}

/** Credits for every run at the highest price, and for fast-check's search for the shortest failing request. */
const enoughCredits = runs * 100 + 1_000_000
const addCaller = async (
  caller: Caller,
  { scopes: keyScopes = scopes, ...settings }: KeySettings,
  credits = enoughCredits
) => {
  const { account_id, key } = await createKey(api.home(), { scopes: keyScopes, budget: 2 * enoughCredits, ...settings })
  const booking = { type: "adjustment", credits: credits - 5_000, reference: caller, note: "for tests" } as const
  await administer(api.home(), (ledger) => ledger.book({ ...booking, account_id }))
  keys.set(caller, { options: { key }, scopes: new Set(keyScopes), remaining: settings.budget ?? credits })
}

const invalidKeys: ReadonlyArray<readonly [Caller, Options]> = [
  ["no_key", { key: undefined }],
  ["unknown_key", { key: `svc_data_${"a".repeat(64)}` }],
  ["malformed_key", { key: "svc_data_" }]
]
const chooseHalf = (rest: number) => scopes.filter((_, index) => index % 2 === rest)

let requests: fc.Arbitrary<GeneratedRequest>
let known: KnownNames
beforeAll(async () => {
  for (const [caller, options] of invalidKeys) keys.set(caller, { options, scopes: new Set(), remaining: 0 })
  await addCaller("all_scopes", {})
  await addCaller("even_scopes", { scopes: chooseHalf(0) })
  await addCaller("odd_scopes", { scopes: chooseHalf(1) })
  await addCaller("no_balance", {}, 0)
  await addCaller("no_budget", { budget: 0 })
  known = await fetchKnownNames((target) => api.get(target))
  requests = generateRequest(api.client().document, known)
})

/** Number of responses of each operation with each status. */
const responseCounts = new Map<string, number>()

/** An error costs nothing, and a success its price. */
const checkRemaining = (key: KeyState, { headers }: Reply) => {
  const before = key.remaining
  key.remaining = Number(headers["x-credits-remaining"])
  expect(key.remaining, "remaining credits").toBe(before - Number(headers["x-credits-charged"]))
}

const checkRequest = async (request: GeneratedRequest) => {
  const key = findKey(request.caller)
  const { message, status } = expectResponse(request, key.scopes, known)
  const reply = await api.client().call(request.target, key.options)
  const summary = reply.status === 200 ? "200" : formatError(reply)
  expect(reply.status, `${summary} to ${request.caller}`).toBe(status)
  if (message !== undefined) expect(reply.json).toHaveProperty("error.message", message)
  if (reply.headers["x-credits-remaining"] !== undefined) checkRemaining(key, reply)
  if (readId(request) === undefined) return
  const name = `${request.operation.operationId} ${status}`
  responseCounts.set(name, (responseCounts.get(name) ?? 0) + 1)
}

/** Makes fast-check print one line that a person can repeat, instead of the whole operation. */
const printShort = (request: GeneratedRequest): GeneratedRequest =>
  Object.assign(request, { [fc.toStringMethod]: () => `${request.caller}: GET ${request.target}` })

/** This many requests produce every status of every operation several times. */
const enoughRuns = 1_700

describe("requests generated from the document", () => {
  it("return the documented status and message, and are charged only on success", async () => {
    console.info(`${runs} requests; repeat them with LARDER_TEST_SEED=${seed}`)
    await fc.assert(fc.asyncProperty(requests.map(printShort), checkRequest), {
      seed,
      numRuns: runs,
      endOnFailure: false
    })
    console.info(
      [...responseCounts]
        .map(([name, count]) => `${name} ${count}`)
        .toSorted()
        .join(", ")
    )
    if (runs < enoughRuns) return
    const documented = Object.values(api.client().document.paths).flatMap(({ get }) =>
      Object.keys(get.responses).flatMap((status) => (Number(status) < 500 ? [`${get.operationId} ${status}`] : []))
    )
    expect(documented.filter((name) => !responseCounts.has(name))).toEqual([])
  })
})
