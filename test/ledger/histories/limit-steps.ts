/** Calls up to a limit, slightly below or beyond it: the balance of an account, or the budget of a key in this month. */
import assert from "node:assert/strict"
import fc from "fast-check"
import { lookUpValidKey, scopeOf } from "./call-steps.ts"
import type { KeyModel } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

const manyCredits = 1_000_000
const expensiveCall = { endpoint: "/v1/stores", credits: 100 }

const setBudget = async (world: World, server: number, key: KeyModel, budget: number) => {
  await world.change(server, ({ editKey }) => editKey({ key_id: key.id, budget_credits: budget }))
  key.budget = budget
  key.revision++
}

/** Makes this many concurrent calls, each held and, if `isCaptured` is set, charged. Returns their outcomes. */
const callConcurrently = async (world: World, server: number, key: KeyModel, count: number, isCaptured: boolean) => {
  const view = await lookUpValidKey(world, server, key)
  const calls = Array.from({ length: count }, async () => {
    const call = { ...expensiveCall, scope: scopeOf(key) }
    const outcome = await world.hold(server, view, call)
    if (typeof outcome === "string") return outcome
    const { budget, secret } = key
    const held = world.keep({ key, secret, server, ...call, admittedAt: world.model.now, budget }, outcome)
    if (isCaptured) assert.equal(await world.capture(held), "charged")
    return "admitted"
  })
  return Promise.all(calls)
}

const countAffordable = (world: World, server: number, key: KeyModel) =>
  Math.max(0, Math.floor(world.model.available(key.account, server) / expensiveCall.credits))

const useUpBalance = step(
  "nearly use up the balance",
  fc.record({ server: choice, key: choice, left: fc.constantFrom(-2, 0, 1, 3) }),
  {
    isPossible: (model) => !model.isDown && model.validKeys().length > 0,
    run: async (world, { key: anyKey, left, server: anyServer }) => {
      const server = world.serverAt(anyServer)
      const key = pick(world.model.validKeys(), anyKey)
      await setBudget(world, server, key, manyCredits)
      const maxAdmitted = countAffordable(world, server, key)
      const outcomes = await callConcurrently(world, server, key, Math.max(0, maxAdmitted - left), true)
      const refused = outcomes.filter((outcome) => outcome === "insufficient_balance").length
      assert.equal(refused, Math.max(0, outcomes.length - maxAdmitted))
      assert.equal(outcomes.filter((outcome) => outcome === "admitted").length, outcomes.length - refused)
      world.note("balance nearly used up")
    }
  }
)

/** `rest` remains of the budget, and is too little for another call. */
const useUpBudget = step(
  "use up the budget",
  fc.record({ server: choice, key: choice, calls: fc.nat(4), rest: fc.nat(99), isCaptured: fc.boolean() }),
  {
    isPossible: (model) => !model.isDown && model.validKeys().length > 0,
    run: async (world, { calls, isCaptured, key: anyKey, rest, server: anyServer }) => {
      const { model } = world
      const server = world.serverAt(anyServer)
      const key = pick(model.validKeys(), anyKey)
      const used = key.budget - model.budgetLeft(key, server)
      const admitted = Math.min(calls, countAffordable(world, server, key))
      await setBudget(world, server, key, used + admitted * expensiveCall.credits + rest)
      const outcomes = await callConcurrently(world, server, key, admitted + 2, isCaptured)
      assert.equal(
        outcomes.filter((outcome) => outcome === "admitted").length,
        admitted,
        "the number of admitted calls does not match the budget"
      )
      world.note("budget used up")
    }
  }
)

export const limitSteps = [
  { weight: 2, arbitrary: useUpBalance },
  { weight: 3, arbitrary: useUpBudget }
]
