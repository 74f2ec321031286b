import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { chainEntries } from "../chain/chain.ts"
import { captureHold, draftCharge, type Hold, hold, releaseCharging, releaseHold } from "./admission.ts"
import { creditAccount, type Decision, expireGrants, issueKey, nothingToWrite } from "./decisions.ts"
import { parseGrants, reverseGrants } from "./expiring-grants.ts"
import { applyGroup, restoreState } from "./ledger-state.ts"
import { openAccount } from "./open-account.ts"

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
/** A simple model: grants that expire, and one that does not. */
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
        const apply = ({ accounts, entries, keys }: Decision) =>
          applyGroup(state, { accounts, keys, entries: chainEntries(state, entries) })
        apply(openAccount("acct_a", "A", start))
        const settings = { scopes: ["get-store"], budget_credits: 1_000_000, sha256: "x", last4: "abcd" } as const
        apply(Result.getOrThrow(issueKey({ id: "key_a", account_id: "acct_a", name: "k", ...settings }, 0, start)))
        const account = state.accounts.get("acct_a")
        assert.isDefined(account)

        let now = start
        const nonExpiring: Grant = { endsAt: Number.POSITIVE_INFINITY, left: 5_000 }
        let grants: Array<Grant> = []
        let running: Array<{ readonly hold: Hold; readonly parts: ReadonlyArray<Part> }> = []
        const sumHeld = (grant: Grant) =>
          sum(
            running.flatMap(({ parts }) => parts.filter((part) => part.grant === grant).map(({ credits }) => credits))
          )
        const listUnexpired = () => [...grants, nonExpiring].filter(({ endsAt }) => endsAt > now)
        const takeParts = (credits: number) => {
          let rest = credits
          return listUnexpired().map((grant): Part => {
            const part = Math.min(rest, grant.left - sumHeld(grant))
            rest -= part
            return { grant, credits: part }
          })
        }

        for (const action of steps) {
          if (action.do === "wait") now += action.hours * hour
          else if (action.do === "grant") {
            const endsAt = now + action.hours * hour
            const expires_at = new Date(endsAt).toISOString()
            const credited = { id: "acct_a", balance_credits: 0, expiring: [] }
            apply(Result.getOrThrow(creditAccount(credited, { credits: action.credits, note: "x", expires_at }, now)))
            grants = [...grants, { endsAt, left: action.credits }].toSorted((a, b) => a.endsAt - b.endsAt)
          } else if (action.do === "hold") {
            const available = sum(listUnexpired().map((grant) => grant.left - sumHeld(grant)))
            const admission = hold(state, "key_a", "/v1/stores", action.credits, now)
            assert.strictEqual("hold" in admission, available >= action.credits)
            if ("hold" in admission) running.push({ hold: admission.hold, parts: takeParts(action.credits) })
          } else {
            const call = running[action.which]
            if (call === undefined) continue
            running = running.filter((other) => other !== call)
            const draft =
              action.do === "charge" ? draftCharge(state, call.hold, `req_${state.sequence}_${now}`) : undefined
            if (action.do === "charge" && draft !== undefined && !action.fails) {
              apply({ ...nothingToWrite, entries: [draft] })
              captureHold(call.hold)
              for (const { credits, grant } of call.parts) grant.left -= credits
            } else if (action.do === "charge") releaseCharging(call.hold)
            else releaseHold(call.hold)
          }
          apply({ ...nothingToWrite, entries: expireGrants("acct_a", account.grants, now) })
          for (const grant of grants) if (grant.endsAt <= now) grant.left = sumHeld(grant)
          assert.strictEqual(account.head.balance, sum([...grants, nonExpiring].map(({ left }) => left)))
          assert.strictEqual(account.held, sum([...grants, nonExpiring].map(sumHeld)))
        }
      }),
      { numRuns: 500 }
    )
  })

  it("are recorded by the position of the entry that granted them, and returned to the same grants", () => {
    assert.deepStrictEqual(parseGrants("3:-20 12:-5"), [
      { position: 3, credits: -20 },
      { position: 12, credits: -5 }
    ])
    assert.strictEqual(reverseGrants("3:-20 12:-5"), "3:20 12:5")
    assert.deepStrictEqual([parseGrants(null), reverseGrants(null)], [[], null])
  })
})
