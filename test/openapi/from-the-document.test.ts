/**
 * Requests that are made from the served document itself, over HTTP, with keys that may, may not and cannot pay. Each
 * answer is one that the document foresees, and the ledger agrees with the answers (`served` looks at the end).
 *
 * A failure prints the seed and the shortest request that fast-check has found. `LARDER_TEST_SEED` makes the same requests
 * again, `LARDER_TEST_RUNS` sets how many are made.
 */
import assert from "node:assert/strict"
import { type Scope, scopes } from "@larder/schemas"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import type { Options } from "../support/api/client.ts"
import type { Reply } from "../support/api/judge.ts"
import { createKey, type KeySettings, operate } from "../support/api/operator.ts"
import { errorOf, served } from "../support/api/served.ts"
import { expected, idIn } from "./expected.ts"
import { type Known, learn } from "./known.ts"
import { type Asked, type Caller, requestsOf } from "./requests.ts"

const api = served()

const numberIn = (variable: string): number | undefined => {
  const text = process.env[variable]
  if (text === undefined || text === "") return undefined
  assert.match(text, /^-?\d{1,10}$/, `${variable} must be an integer`)
  return Number(text)
}
const runs = numberIn("LARDER_TEST_RUNS") ?? 1_800
const seed = numberIn("LARDER_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31)

interface Purse {
  readonly options: Options
  readonly scopes: ReadonlySet<Scope>
  /** Credits that the key can still spend, as the last answer said. */
  remaining: number
}
const purses = new Map<Caller, Purse>()
const purseOf = (caller: Caller): Purse => {
  const purse = purses.get(caller)
  if (purse === undefined) throw new Error(`there is no ${caller}`)
  return purse
}

/** Credits for every run at the highest price, and as many as the search for the shortest request may take. */
const enough = runs * 100 + 1_000_000
const addCaller = async (caller: Caller, { scopes: held = scopes, ...settings }: KeySettings, credits = enough) => {
  const { account_id, key } = await createKey(api.home(), { scopes: held, budget: 2 * enough, ...settings })
  const booking = { type: "adjustment", credits: credits - 5_000, reference: caller, note: "for tests" } as const
  await operate(api.home(), (ledger) => ledger.book({ ...booking, account_id }))
  purses.set(caller, { options: { key }, scopes: new Set(held), remaining: settings.budget ?? credits })
}

const strangers: Readonly<Record<string, Options>> = {
  nobody: { key: undefined },
  stranger: { key: `svc_data_${"a".repeat(64)}` },
  mumbler: { key: "svc_data_" }
}
const half = (rest: number) => scopes.filter((_, index) => index % 2 === rest)

let requests: fc.Arbitrary<Asked>
let known: Known
beforeAll(async () => {
  for (const [caller, options] of Object.entries(strangers))
    purses.set(caller as Caller, { options, scopes: new Set(), remaining: 0 }) // the names above are callers
  await addCaller("all", {})
  await addCaller("even", { scopes: half(0) })
  await addCaller("odd", { scopes: half(1) })
  await addCaller("broke", {}, 0)
  await addCaller("paused", { budget: 0 })
  known = await learn((target) => api.get(target))
  requests = requestsOf(api.client().document, known)
})

/** How often each operation answered with each status. */
const tally = new Map<string, number>()

/** A refusal takes nothing, and an answer its price. */
const checkPurse = (purse: Purse, { headers }: Reply) => {
  const before = purse.remaining
  purse.remaining = Number(headers["x-credits-remaining"])
  expect(purse.remaining, "credits that are left").toBe(before - Number(headers["x-credits-charged"]))
}

const ask = async (asked: Asked) => {
  const purse = purseOf(asked.caller)
  const { message, status } = expected(asked, purse.scopes, known)
  const reply = await api.client().call(asked.target, purse.options)
  const said = reply.status === 200 ? "200" : errorOf(reply)
  expect(reply.status, `${said} to ${asked.caller}`).toBe(status)
  if (message !== undefined) expect(reply.json).toHaveProperty("error.message", message)
  if (reply.headers["x-credits-remaining"] !== undefined) checkPurse(purse, reply)
  if (idIn(asked) === undefined) return
  const what = `${asked.operation.operationId} ${status}`
  tally.set(what, (tally.get(what) ?? 0) + 1)
}

/** The line that a person can repeat, not the whole operation. */
const shown = (asked: Asked): Asked =>
  Object.assign(asked, { [fc.toStringMethod]: () => `${asked.caller}: GET ${asked.target}` })

/** So many requests meet every status of every operation several times. */
const enoughRuns = 1_700

describe("requests that are made from the document", () => {
  it("get the status and the message that it documents, and are charged only when they succeed", async () => {
    console.info(`${runs} requests; again with LARDER_TEST_SEED=${seed}`)
    await fc.assert(fc.asyncProperty(requests.map(shown), ask), { seed, numRuns: runs, endOnFailure: false })
    console.info(
      [...tally]
        .map(([what, times]) => `${what} ${times}`)
        .toSorted()
        .join(", ")
    )
    if (runs < enoughRuns) return
    const foreseen = Object.values(api.client().document.paths).flatMap(({ get }) =>
      Object.keys(get.responses).flatMap((status) => (Number(status) < 500 ? [`${get.operationId} ${status}`] : []))
    )
    expect(foreseen.filter((what) => !tally.has(what))).toEqual([])
  })
})
