import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { chainEntries } from "../chain/chain.ts"
import { captureHold, draftCharge, type Hold, hold, releaseCharging, releaseHold } from "./admission.ts"
import { creditAccount, type Decision, expireGrants, issueKey, nothingToWrite, openAccount } from "./decisions.ts"
import { parseGrants, reverseGrants } from "./expiring-grants.ts"
import { applyGroup, restoreState } from "./ledger-state.ts"

const start = Date.parse("2026-10-15T12:00:00.000Z")
const hour = 3_600_000

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("hold" as const), credits: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("charge" as const), which: fc.nat(5), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("grant" as const),
      credits: fc.integer({ min: 1, max: 500 }),
      hours: fc.integer({ min: 1, max: 30 })
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.nat(12) }) }
)

/** What a call takes from one grant, or from credits that do not expire. */
interface Part {
  readonly grant: Grant
  readonly credits: number
}
/** The simple model: piles of credits that expire, and one that does not. */
interface Grant {
  readonly endsAt: number
  left: number
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

describe("credits that expire", () => {
  it("are spent in order of expiry, and stay in the balance until they expire and no call holds them", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const state = restoreState({ sequence: 0, accounts: [], keys: [], spending: [], grants: [], booked: [] })
        const take = ({ accounts, entries, keys }: Decision) =>
          applyGroup(state, { accounts, keys, entries: chainEntries(state, entries) })
        take(openAccount("acct_a", "A", start))
        const settings = { scopes: ["get-store"], budget_credits: 1_000_000, sha256: "x", last4: "abcd" } as const
        take(Result.getOrThrow(issueKey({ id: "key_a", account_id: "acct_a", name: "k", ...settings }, 0, start)))
        const account = state.accounts.get("acct_a")
        assert.isDefined(account)

        let now = start
        const open: Grant = { endsAt: Number.POSITIVE_INFINITY, left: 5_000 }
        let grants: Array<Grant> = []
        let running: Array<{ readonly hold: Hold; readonly parts: ReadonlyArray<Part> }> = []
        const heldOf = (grant: Grant) =>
          sum(
            running.flatMap(({ parts }) => parts.filter((part) => part.grant === grant).map(({ credits }) => credits))
          )
        const live = () => [...grants, open].filter(({ endsAt }) => endsAt > now)
        const partsOf = (credits: number) => {
          let wanted = credits
          return live().map((grant): Part => {
            const part = Math.min(wanted, grant.left - heldOf(grant))
            wanted -= part
            return { grant, credits: part }
          })
        }

        for (const one of steps) {
          if (one.do === "wait") now += one.hours * hour
          else if (one.do === "grant") {
            const endsAt = now + one.hours * hour
            const expires_at = new Date(endsAt).toISOString()
            const credited = { id: "acct_a", balance_credits: 0, expiring: [] }
            take(Result.getOrThrow(creditAccount(credited, { credits: one.credits, note: "x", expires_at }, now)))
            grants = [...grants, { endsAt, left: one.credits }].toSorted((a, b) => a.endsAt - b.endsAt)
          } else if (one.do === "hold") {
            const available = sum(live().map((grant) => grant.left - heldOf(grant)))
            const admission = hold(state, "key_a", "/v1/stores", one.credits, now)
            assert.strictEqual("hold" in admission, available >= one.credits)
            if ("hold" in admission) running.push({ hold: admission.hold, parts: partsOf(one.credits) })
          } else {
            const call = running[one.which]
            if (call === undefined) continue
            running = running.filter((other) => other !== call)
            const draft =
              one.do === "charge" ? draftCharge(state, call.hold, `req_${state.sequence}_${now}`) : undefined
            if (one.do === "charge" && draft !== undefined && !one.fails) {
              take({ ...nothingToWrite, entries: [draft] })
              captureHold(call.hold)
              for (const { credits, grant } of call.parts) grant.left -= credits
            } else if (one.do === "charge") releaseCharging(call.hold)
            else releaseHold(call.hold)
          }
          take({ ...nothingToWrite, entries: expireGrants("acct_a", account.grants, now) })
          for (const grant of grants) if (grant.endsAt <= now) grant.left = heldOf(grant)
          assert.strictEqual(account.head.balance, sum([...grants, open].map(({ left }) => left)))
          assert.strictEqual(account.held, sum([...grants, open].map(heldOf)))
        }
      }),
      { numRuns: 500 }
    )
  })

  it("are recorded by the position of the entry that granted them, and returned as they were taken", () => {
    assert.deepStrictEqual(parseGrants("3:-20 12:-5"), [
      { position: 3, credits: -20 },
      { position: 12, credits: -5 }
    ])
    assert.strictEqual(reverseGrants("3:-20 12:-5"), "3:20 12:5")
    assert.deepStrictEqual([parseGrants(null), reverseGrants(null)], [[], null])
  })
})
