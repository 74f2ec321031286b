import { assert, describe, it } from "@effect/vitest"
import { scopes } from "@larder/schemas"
import { memoryStore } from "@larder/test/support/serve/memory-store.ts"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { chainEntries, emptyHead, hashEntry } from "../chain/chain.ts"
import { monthOf } from "../utc-calendar.ts"
import { draftCharge, endHold, type Hold, type HoldOutcome, hold, releaseHold, remaining } from "./admission.ts"
import { creditAccount, type Decision, editKey, issueKey, revokeKey } from "./decisions.ts"
import { applyGroup, type Group, type LedgerState, requireRecord, restoreState } from "./ledger-state.ts"
import { openAccount } from "./open-account.ts"
import { openMonth } from "./spending.ts"

const endpoint = "/v1/commodities/prices"
const october = Date.parse("2026-10-15T12:00:00.000Z")
const lastOfOctober = Date.parse("2026-10-31T23:59:59.999Z")
const november = Date.parse("2026-11-01T00:00:00.000Z")

const empty = (): LedgerState => restoreState({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] })

/** Applies a decision as if it had been written. */
const apply = (state: LedgerState, { accounts, entries, keys }: Decision): Group => {
  const group = { accounts, keys, entries: chainEntries(state, entries) }
  applyGroup(state, group)
  return group
}

const makeKey = (id: string, account_id: string, budget_credits: number) => ({
  id,
  account_id,
  name: id,
  scopes,
  budget_credits,
  sha256: `sha256 of ${id}`,
  last4: "abcd",
  expires_at: null
})

/** A ledger with one account of 5,000 credits and one key. */
const makeLedger = ({ budget = 1_000_000 }: { readonly budget?: number } = {}) => {
  const state = empty()
  apply(state, openAccount("acct_a", "A", october))
  apply(state, Result.getOrThrow(issueKey(makeKey("key_a", "acct_a", budget), 0, october)))
  return state
}

const stateOfKey = (state: LedgerState, keyId = "key_a") => requireRecord(state.keys, keyId)
const readKey = (state: LedgerState, keyId?: string) => stateOfKey(state, keyId).record

const requireHold = (admission: HoldOutcome): Hold => {
  if ("refused" in admission) throw new Error(`refused: ${admission.refused}`)
  return admission.hold
}

const pay = (state: LedgerState, keyId: string, credits: number, now: number, requestId = `req_${Math.random()}`) => {
  const admitted = requireHold(hold(state, keyId, endpoint, credits, now))
  const draft = draftCharge(state, admitted, requestId)
  if (draft === undefined) throw new Error("charged twice")
  apply(state, { accounts: [], keys: [], entries: [draft] })
  endHold(admitted, "captured")
}

const balance = (state: LedgerState) => state.accounts.get("acct_a")?.head.balance

describe("admission: one decision over balance and the key's month", () => {
  it("starts an account with 5,000 credits, as one grant", () => {
    const state = empty()
    const { entries } = apply(state, openAccount("acct_a", "A", october))
    const grant = {
      account_id: "acct_a",
      position: 1,
      type: "grant" as const,
      occurred_at: "2026-10-15T12:00:00.000Z",
      key_id: null,
      endpoint: null,
      credits: 5000,
      balance: 5000,
      budget_credits: null,
      request_id: null,
      note: "starting balance"
    }
    assert.deepStrictEqual(entries, [{ ...grant, sequence: 1, hash: hashEntry(emptyHead.hash, grant) }])
    assert.strictEqual(balance(state), 5000)
  })

  it("lets a key spend exactly the whole balance, and nothing more", () => {
    const state = makeLedger()
    for (let call = 0; call < 50; call++) pay(state, "key_a", 100, october)
    assert.strictEqual(balance(state), 0)
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 1, october), { refused: "insufficient_balance" })
  })

  it("lets a key spend exactly its whole budget, and nothing more", () => {
    const state = makeLedger({ budget: 200 })
    pay(state, "key_a", 100, october)
    pay(state, "key_a", 100, october)
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 1, october), { refused: "monthly_spend_cap_reached" })
  })

  it("refuses a call that costs more than the rest, and admits a cheaper one afterwards", () => {
    const state = makeLedger({ budget: 150 })
    pay(state, "key_a", 100, october)
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 100, october), { refused: "monthly_spend_cap_reached" })
    pay(state, "key_a", 10, october)
  })

  it("refuses because of the balance if balance and budget are both used up", () => {
    const state = makeLedger({ budget: 5000 })
    for (let call = 0; call < 50; call++) pay(state, "key_a", 100, october)
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 10, october), { refused: "insufficient_balance" })
  })

  it("counts the holds of running calls against balance and budget", () => {
    const state = makeLedger({ budget: 150 })
    const running = requireHold(hold(state, "key_a", endpoint, 100, october))
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 100, october), { refused: "monthly_spend_cap_reached" })
    releaseHold(running)
    requireHold(hold(state, "key_a", endpoint, 100, october))
  })

  it("pauses a key with a budget of 0", () => {
    const state = makeLedger({ budget: 0 })
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 10, october), { refused: "monthly_spend_cap_reached" })
    assert.strictEqual(remaining(stateOfKey(state), october), 0)
  })
})

describe("months: a hold belongs to the UTC month of its admission", () => {
  it("gives the key its whole budget again on the first of the month", () => {
    const state = makeLedger({ budget: 100 })
    pay(state, "key_a", 100, lastOfOctober)
    assert.deepStrictEqual(hold(state, "key_a", endpoint, 10, lastOfOctober), { refused: "monthly_spend_cap_reached" })
    assert.strictEqual(remaining(stateOfKey(state), november), 100)
    pay(state, "key_a", 100, november)
  })

  it("charges a call to October if it was admitted in October and ends in November", () => {
    const state = makeLedger({ budget: 100 })
    const running = requireHold(hold(state, "key_a", endpoint, 100, lastOfOctober))
    pay(state, "key_a", 100, november)
    const draft = draftCharge(state, running, "req_late")
    endHold(running, "captured")
    assert.strictEqual(draft?.occurred_at, "2026-10-31T23:59:59.999Z")
    const keyState = stateOfKey(state)
    assert.strictEqual(openMonth(keyState, monthOf(lastOfOctober)).spent, 100)
    assert.strictEqual(openMonth(keyState, monthOf(november)).spent, 100)
  })

  it("counts what was spent in October if the clock is set back from November", () => {
    const state = makeLedger({ budget: 100 })
    pay(state, "key_a", 60, october)
    pay(state, "key_a", 10, november)
    assert.strictEqual(remaining(stateOfKey(state), october), 40)
  })
})

describe("holds: each ends exactly once", () => {
  it("are not released twice", () => {
    const state = makeLedger()
    const running = requireHold(hold(state, "key_a", endpoint, 100, october))
    releaseHold(running)
    releaseHold(running)
    assert.strictEqual(remaining(stateOfKey(state), october), 5000)
  })

  it("cannot be charged twice, and are not released while they are charged", () => {
    const state = makeLedger()
    const running = requireHold(hold(state, "key_a", endpoint, 100, october))
    draftCharge(state, running, "req_1")
    releaseHold(running)
    assert.strictEqual(remaining(stateOfKey(state), october), 4900)
    assert.throws(() => draftCharge(state, running, "req_2"), /used already/)
  })

  it("charges a request id once", () => {
    const state = makeLedger()
    pay(state, "key_a", 100, october, "req_1")
    const running = requireHold(hold(state, "key_a", endpoint, 100, october))
    assert.isUndefined(draftCharge(state, running, "req_1"))
  })

  it("remembers the request ids of the latest 10,000 charges", () => {
    const state = makeLedger()
    const charge = (requestId: string) => {
      const running = requireHold(hold(state, "key_a", endpoint, 1, october))
      const draft = draftCharge(state, running, requestId)
      endHold(running, "released")
      return draft
    }
    for (let call = 0; call < 15_000; call++) assert.isDefined(charge(`req_${call}`))
    for (let call = 5_000; call < 15_000; call++) assert.isUndefined(charge(`req_${call}`))
  })
})

describe("a key", () => {
  it("applies an edit from the next call on", () => {
    const state = makeLedger({ budget: 0 })
    const edited = editKey(readKey(state), { budget_credits: 10, scopes: ["get-store"], name: "renamed" }, october)
    apply(state, Result.getOrThrow(edited))
    pay(state, "key_a", 10, october)
    assert.deepStrictEqual(state.keysByFingerprint.get("sha256 of key_a"), {
      id: "key_a",
      account_id: "acct_a",
      name: "renamed",
      scopes: new Set(["get-store" as const]),
      revision: 2,
      validUntil: Number.POSITIVE_INFINITY,
      isSuspended: false
    })
  })

  it("is unknown after its revocation, and can be neither edited nor revoked again", () => {
    const state = makeLedger()
    apply(state, revokeKey(readKey(state), october))
    assert.isFalse(state.keysByFingerprint.has("sha256 of key_a"))
    const secondRevocation = apply(state, revokeKey(readKey(state), november))
    assert.deepStrictEqual(secondRevocation.keys, [])
    assert.strictEqual(readKey(state).revoked_at, "2026-10-15T12:00:00.000Z")
    const edited = editKey(readKey(state), { name: "back?" }, november)
    assert.strictEqual(Result.isFailure(edited) && edited.failure._tag, "KeyRevoked")
  })
})

describe("any history", () => {
  const command = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("hold" as const),
        key: fc.nat(2),
        credits: fc.constantFrom(10, 100, 1500)
      })
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant("charge" as const), which: fc.nat(20), fails: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which: fc.nat(20) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("credit" as const),
        account: fc.nat(1),
        credits: fc.integer({ min: 1, max: 3000 })
      })
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("raise" as const),
        key: fc.nat(2),
        credits: fc.integer({ min: 1, max: 3000 })
      })
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 40 }) }) }
  )
  const budgets = [300, 2000, 100_000]

  it("never exceeds a balance or a budget, and can be rebuilt from its entries", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 120 }), async (commands) => {
        const store = memoryStore()
        const state = empty()
        let now = october
        const write = async ({ accounts, entries, keys }: Decision) => {
          const group = { accounts, keys, entries: chainEntries(state, entries) }
          await store.append(group)
          applyGroup(state, group)
        }
        await write(openAccount("acct_0", "0", now))
        await write(openAccount("acct_1", "1", now))
        for (const [index, budget] of budgets.entries()) {
          await write(Result.getOrThrow(issueKey(makeKey(`key_${index}`, `acct_${index % 2}`, budget), index, now)))
        }
        let running: Array<Hold> = []
        let requests = 0
        for (const step of commands) {
          if (step.do === "hold") {
            const admitted = hold(state, `key_${step.key}`, endpoint, step.credits, now)
            if ("hold" in admitted) running.push(admitted.hold)
          } else if (step.do === "charge") {
            const selected = running[step.which]
            const draft = selected && draftCharge(state, selected, `req_${requests++}`)
            if (selected === undefined || draft === undefined) continue
            if (step.fails) endHold(selected, "released")
            else {
              await write({ accounts: [], keys: [], entries: [draft] })
              endHold(selected, "captured")
            }
            running = running.filter((other) => other !== selected)
          } else if (step.do === "release") {
            const selected = running[step.which]
            if (selected !== undefined) releaseHold(selected)
            running = running.filter((other) => other !== selected)
          } else if (step.do === "credit") {
            const credited = { id: `acct_${step.account}`, balance_credits: 0 }
            await write(Result.getOrThrow(creditAccount(credited, { credits: step.credits, note: "test" }, now)))
          } else if (step.do === "raise") {
            const raised = readKey(state, `key_${step.key}`)
            const budget_credits = raised.budget_credits + step.credits
            await write(Result.getOrThrow(editKey(raised, { budget_credits }, october)))
          } else now += step.days * 86_400_000

          for (const account of state.accounts.values()) assert.isTrue(account.head.balance - account.held >= 0)
          for (const key of state.keys.values()) {
            for (const { held, spent } of key.months.values()) {
              assert.isTrue(held >= 0 && spent + held <= key.record.budget_credits)
            }
          }
        }
        for (const hold of running) releaseHold(hold)

        const rebuilt = restoreState(await Effect.runPromise(store.load))
        assert.strictEqual(rebuilt.sequence, store.entries.length)
        assert.deepStrictEqual(
          store.entries.map((entry) => entry.sequence),
          store.entries.map((_, index) => index + 1)
        )
        for (const [id, account] of state.accounts) {
          assert.deepStrictEqual(rebuilt.accounts.get(id), account)
          assert.strictEqual(account.held, 0)
        }
        for (const [id, key] of state.keys) {
          assert.deepStrictEqual(rebuilt.keys.get(id)?.record, key.record)
          for (const { month, spent } of key.months.values()) {
            assert.strictEqual(rebuilt.keys.get(id)?.months.get(month)?.spent ?? 0, spent)
          }
        }
      }),
      { numRuns: 300 }
    )
  })

  it("numbers months consecutively, in UTC", () => {
    assert.strictEqual(monthOf(november) - monthOf(lastOfOctober), 1)
    assert.strictEqual(monthOf(Date.parse("2027-01-01T00:00:00Z")), 2027 * 12)
  })
})
