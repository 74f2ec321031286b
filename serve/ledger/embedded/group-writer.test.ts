/** When a group is written: at the end of an iteration of the event loop, or of a later one if its charges may wait. */
import { assert, describe, it } from "@effect/vitest"
import { memoryStore } from "@larder/test/support/serve/memory-store.ts"
import { newCounters } from "../ledger.ts"
import { draftCharge, hold } from "../rules/admission.ts"
import { restoreState } from "../rules/ledger-state.ts"
import { makeGroupWriter } from "./group-writer.ts"

const at = Date.parse("2026-10-01T12:00:00Z")
const account = { id: "acct_1", name: "A", created_at: "2026-10-01T00:00:00.000Z", suspended_at: null }
const key = {
  id: "key_1",
  account_id: account.id,
  name: "k",
  scopes: [],
  budget_credits: 1_000,
  sha256: "0",
  last4: "0000",
  former_sha256: null,
  former_last4: null,
  former_expires_at: null,
  created_at: account.created_at,
  revoked_at: null,
  expires_at: null,
  revision: 1
}

/** A writer whose clock the test sets: on a busy machine, an iteration may take any time. */
const makeTestWriter = () => {
  const head = { position: 1, balance: 1_000, hash: "" }
  const snapshot = { sequence: 1, accounts: [{ account, head }], keys: [key], spending: [], booked: [] }
  const state = restoreState(snapshot)
  const counters = newCounters()
  const clock = { now: 0 }
  const writer = makeGroupWriter(state, memoryStore(), counters, () => clock.now)
  let calls = 0
  const charge = (patience: number) => {
    const outcome = hold(state, key.id, "/v1/stores", 10, at)
    assert("hold" in outcome)
    const draft = draftCharge(state, outcome.hold, `req_${++calls}`)
    assert(draft !== undefined)
    return writer.charge(outcome.hold, draft, patience)
  }
  /** An iteration of the event loop that takes this many milliseconds. */
  const iterate = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      clock.now += milliseconds
      setImmediate(resolve)
    })
  return { charge, counters, iterate, writer }
}

describe("a group of charges", () => {
  it("is written at the end of the iteration if one of them does not wait", async () => {
    const { charge, counters, iterate } = makeTestWriter()
    charge(10)
    charge(0)
    await iterate(2)
    assert.strictEqual(counters.charges, 2)
    assert.strictEqual(counters.groups, 1)
  })

  it("takes charges of further iterations while the event loop is busy, until the first has waited long enough", async () => {
    const { charge, counters, iterate } = makeTestWriter()
    charge(5)
    await iterate(2)
    charge(10)
    await iterate(2)
    assert.strictEqual(counters.groups, 0)
    await iterate(2)
    assert.strictEqual(counters.charges, 2)
    assert.strictEqual(counters.groups, 1)
  })

  it("is written after an iteration in which the event loop had nothing to do", async () => {
    const { charge, counters, iterate } = makeTestWriter()
    charge(10)
    await iterate(0)
    assert.strictEqual(counters.groups, 0)
    await iterate(0)
    assert.strictEqual(counters.groups, 1)
  })

  it("is written when the ledger closes, however long its charges may wait", async () => {
    const { charge, counters, writer } = makeTestWriter()
    charge(Number.POSITIVE_INFINITY)
    await writer.close()
    assert.strictEqual(counters.charges, 1)
  })
})
