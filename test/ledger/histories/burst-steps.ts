/**
 * Concurrent calls on several servers, of one key or of two keys of an account, while an operator changes something. Their
 * order is unknown, so the outcome is checked against what is true for every order: an admitted call fitted into the
 * limits, and a refused one did not, because during a burst the rest of a limit only shrinks. If calls are decided again
 * when they are charged, this is checked for the charges: see `invariants.ts`.
 */
import assert from "node:assert/strict"
import type { Scope } from "@larder/schemas"
import type { ApiKeyView } from "@larder/serve/ledger"
import fc from "fast-check"
import { newBooking, recordInModel } from "./booking-steps.ts"
import { type Call, calls, lookUpValidKey, scopeOf } from "./call-steps.ts"
import { type CommitOutcome, type HoldModel, type KeyModel, type Outcome, timeOf } from "./model.ts"
import { budget, choice, oneOrMore, scopes } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

/** Turns of the event loop to wait. */
const turns = fc.nat(3)
const wait = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const change = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ what: "nothing" as const }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("budget" as const), budget }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("credits" as const), credits: fc.integer({ min: 1, max: 500 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("deduction" as const), credits: fc.integer({ min: -3_000, max: -1 }) })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("scopes" as const), scopes }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("revocation" as const) }) }
)
type Change = typeof change extends fc.Arbitrary<infer A> ? A : never

const details = fc.record({
  key: choice,
  other: choice,
  calls: fc.array(fc.record({ server: choice, isForOtherKey: fc.boolean(), call: calls, turns }), {
    minLength: 2,
    maxLength: 60,
    size: "max"
  }),
  /** Whether each call is committed; otherwise its hold stays open. */
  isCommitted: fc.boolean(),
  change,
  changingServer: choice,
  turnsBeforeChange: turns
})

/** Makes the change. Returns how to update the model when the burst is over. */
const makeChange = async (world: World, server: number, key: KeyModel, change: Change): Promise<() => void> => {
  const { model } = world
  const key_id = key.id
  if (change.what === "budget") {
    const budget_credits = change.budget
    await world.change(server, ({ editKey }) => editKey({ key_id, budget_credits }))
    return () => {
      key.budget = budget_credits
      key.revision++
    }
  }
  if (change.what === "scopes") {
    const list = oneOrMore(change.scopes)
    await world.change(server, ({ editKey }) => editKey({ key_id, scopes: list }))
    return () => {
      key.scopes = list
      key.revision++
    }
  }
  if (change.what === "revocation") {
    await world.change(server, ({ revokeKey }) => revokeKey({ key_id }))
    return () => {
      key.revokedAt = timeOf(model.now)
      key.revision++
    }
  }
  if (change.what === "credits") {
    const { credits } = change
    const input = { account_id: key.account.id, credits, note: "in between" }
    await world.change(server, ({ creditAccount }) => creditAccount(input))
    return () => model.book(key.account, "adjustment", credits, "in between")
  }
  if (change.what === "deduction") {
    const booking = newBooking(world, key.account, { type: "refund", credits: change.credits })
    await world.change(server, ({ book }) => book(booking))
    return () => recordInModel(world, key.account, booking)
  }
  return () => {}
}

interface EndedCall {
  readonly key: KeyModel
  readonly credits: number
  /** Of the key as the call has last looked it up. */
  readonly budget: number
  readonly outcome: Outcome | "key_changed"
}

/** Admits a call like the request pipeline: looks the key up again if it was changed. */
const admit = async (
  world: World,
  call: Call & { readonly scope: Scope },
  caller: { readonly server: number; readonly key: KeyModel; readonly view: ApiKeyView }
) => {
  const { key, server } = caller
  let { view } = caller
  for (;;) {
    const outcome = await world.hold(server, view, call)
    if (outcome !== "key_changed") return { outcome, revision: view.revision }
    const latest = await world.lookUp(server, key)
    if (latest === undefined) return { outcome, revision: view.revision }
    assert.notEqual(latest.revision, view.revision, "the key was reported as changed, but is the same")
    view = latest
  }
}

const sumAdmitted = (ended: ReadonlyArray<EndedCall>) =>
  ended.filter(({ outcome }) => outcome === "held").reduce((total, { credits }) => total + credits, 0)

/** `available` is the balance before the burst; `extra` was added during the burst, or removed if it is negative. */
const checkAccount = (ended: ReadonlyArray<EndedCall>, available: number, extra: number) => {
  const admitted = sumAdmitted(ended)
  const [min, max] = [available + Math.min(0, extra), available + Math.max(0, extra)]
  assert.ok(admitted <= Math.max(0, max), `${admitted} credits were admitted, and ${max} were available`)
  for (const { credits, outcome } of ended) {
    if (outcome === "insufficient_balance")
      assert.ok(min - admitted < credits, "refused, although the balance sufficed")
  }
}

/** `used` is what was spent and held in the month before the burst; `budget` is the budget at that time. */
const checkKey = (ended: ReadonlyArray<EndedCall>, budget: number, used: number) => {
  const admitted = sumAdmitted(ended)
  const oldShare = sumAdmitted(ended.filter((call) => call.budget === budget))
  assert.ok(oldShare <= Math.max(0, budget - used), `${oldShare} credits were admitted of a budget of ${budget - used}`)
  for (const call of ended) {
    const left = call.budget - used - admitted
    if (call.outcome === "held" && call.budget !== budget)
      assert.ok(left >= 0, `the new budget was overspent by ${-left}`)
    if (call.outcome === "monthly_spend_cap_reached")
      assert.ok(left < call.credits, "refused, although the budget sufficed")
  }
}

const burst = step("burst", details, {
  isPossible: (model) => !model.isDown && model.validKeys().length > 0,
  run: async (world, burst) => {
    const { model } = world
    const first = pick(model.validKeys(), burst.key)
    const { account } = first
    const second = pick(
      model.validKeys().filter((key) => key.account === account),
      burst.other
    )
    const keys = [...new Set([first, second])]
    const available = model.available(account, 0)
    const before = keys.map((key) => ({ key, budget: key.budget, used: key.budget - model.budgetLeft(key, 0) }))
    const { revision } = first
    const newBudget = burst.change.what === "budget" ? burst.change.budget : first.budget
    const budgetOf = (key: KeyModel, known: number) => (key === first && known > revision ? newBudget : key.budget)

    const callers = await Promise.all(
      burst.calls.map(async ({ call, isForOtherKey, server: anyServer, turns }) => {
        const server = world.serverAt(anyServer)
        const key = isForOtherKey ? second : first
        const view = await lookUpValidKey(world, server, key)
        return { server, key, view, call: { ...call, scope: scopeOf(key) }, turns }
      })
    )
    const ended: Array<EndedCall> = []
    const committed: Array<readonly [HoldModel, CommitOutcome, string]> = []
    const changing = wait(burst.turnsBeforeChange).then(() =>
      makeChange(world, world.serverAt(burst.changingServer), first, burst.change)
    )
    const calling = callers.map(async ({ call, turns, ...caller }) => {
      await wait(turns)
      const { key, server } = caller
      const { outcome, revision } = await admit(world, call, caller)
      assert.ok(outcome !== "unavailable")
      const isHeld = typeof outcome === "object"
      const budget = budgetOf(key, revision)
      ended.push({ key, credits: call.credits, budget, outcome: isHeld ? "held" : outcome })
      if (!isHeld) return
      const held = world.keep({ key, server, ...call, admittedAt: model.now, budget }, outcome)
      if (!burst.isCommitted) return
      const id = world.newRequestId()
      const charge = await world.tryCommit(held, id)
      assert.ok(charge !== "rejected", `the commit of ${id} was rejected`)
      assert.ok(charge === "charged" || model.traits.decidesAgain, `the commit of ${id}: ${charge}`)
      committed.push([held, charge, id])
    })
    await Promise.all(calling)
    const updateModel = await changing

    if (!model.traits.decidesAgain) {
      checkAccount(ended, available, "credits" in burst.change ? burst.change.credits : 0)
      for (const { budget, key, used } of before) {
        checkKey(
          ended.filter((call) => call.key === key),
          budget,
          used
        )
      }
    }
    const isRevoked = burst.change.what === "revocation"
    assert.ok(
      isRevoked || ended.every(({ outcome }) => outcome !== "key_changed"),
      "a key was refused without a reason"
    )
    const entries = await world.subject.entriesOf(account.id)
    for (const [held, outcome, id] of committed) {
      const { budget_credits } = entries.find(({ request_id }) => request_id === id) ?? {}
      if (model.traits.decidesAgain) held.chargedBudget = budget_credits ?? undefined
      world.settle(held, outcome, id)
    }
    if (burst.change.what !== "nothing") world.refusedCharges = [] // what is left now may suffice again
    updateModel()
    world.note(`burst with ${burst.change.what}`)
    if (keys.length > 1) world.note("burst on two keys")
  }
})

export const burstSteps = [{ weight: 5, arbitrary: burst }]
