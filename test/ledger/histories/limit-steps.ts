/** Calls that meet a limit exactly: the balance of an account, or the budget of a key in this month. */
import assert from "node:assert/strict"
import fc from "fast-check"
import { viewOf } from "./call-steps.ts"
import type { KeyModel } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

const manyCredits = 1_000_000
const dearCall = { endpoint: "/v1/stores", credits: 100 }

const setBudget = async (world: World, server: number, key: KeyModel, budget: number) => {
  await world.change(server, ({ editKey }) => editKey({ key_id: key.id, budget_credits: budget }))
  key.budget = budget
  key.revision++
}

/** So many calls at once, each held and, if it `commits`, charged. Returns their outcomes. */
const callAtOnce = async (world: World, server: number, key: KeyModel, count: number, commits: boolean) => {
  const view = await viewOf(world, server, key)
  const calls = Array.from({ length: count }, async () => {
    const outcome = await world.hold(server, view, dearCall)
    if (typeof outcome === "string") return outcome
    const { budget } = key
    const held = world.keep({ key, server, ...dearCall, admittedAt: world.model.now, budget }, outcome)
    if (commits) await world.commit(held)
    return "admitted"
  })
  return Promise.all(calls)
}

const affordable = (world: World, key: KeyModel) =>
  Math.max(0, Math.floor(world.model.available(key.account) / dearCall.credits))

const useUpBalance = step(
  "use up the balance",
  fc.record({ server: choice, key: choice, left: fc.constantFrom(-2, 0, 1, 3) }),
  {
    can: (model) => !model.isOut && model.validKeys().length > 0,
    happens: async (world, { key: anyKey, left, server: anyServer }) => {
      const server = world.serverAt(anyServer)
      const key = pick(world.model.validKeys(), anyKey)
      await setBudget(world, server, key, manyCredits)
      const most = affordable(world, key)
      const outcomes = await callAtOnce(world, server, key, Math.max(0, most - left), true)
      const refused = outcomes.filter((outcome) => outcome === "insufficient_balance").length
      assert.equal(refused, Math.max(0, outcomes.length - most))
      assert.equal(outcomes.filter((outcome) => outcome === "admitted").length, outcomes.length - refused)
      world.note("balance used up")
    }
  }
)

/** `rest` is what is left of the budget and pays for no call. */
const useUpBudget = step(
  "use up the budget",
  fc.record({ server: choice, key: choice, calls: fc.nat(4), rest: fc.nat(99), commits: fc.boolean() }),
  {
    can: (model) => !model.isOut && model.validKeys().length > 0,
    happens: async (world, { calls, commits, key: anyKey, rest, server: anyServer }) => {
      const { model } = world
      const server = world.serverAt(anyServer)
      const key = pick(model.validKeys(), anyKey)
      const used = key.budget - model.room(key)
      const paid = Math.min(calls, affordable(world, key))
      await setBudget(world, server, key, used + paid * dearCall.credits + rest)
      const outcomes = await callAtOnce(world, server, key, paid + 2, commits)
      assert.equal(
        outcomes.filter((outcome) => outcome === "admitted").length,
        paid,
        "the budget pays for another number"
      )
      world.note("budget used up")
    }
  }
)

export const limitSteps = [
  { weight: 2, arbitrary: useUpBalance },
  { weight: 3, arbitrary: useUpBudget }
]
