/** Calls: holds one at a time and many at once, and all the ways in which they end. */
import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import type { ApiKeyView } from "@larder/serve/ledger"
import fc from "fast-check"
import type { HoldModel, KeyModel, Model } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

export interface Call {
  readonly endpoint: string
  readonly credits: number
}
/** The dearer a call is, the sooner too little is left for a slice. */
const cheap: Call = { endpoint: "/v1/commodities/prices", credits: 10 }
export const calls: fc.Arbitrary<Call> = fc.constantFrom(cheap, { endpoint: "/v1/stores", credits: 100 })

export const viewOf = async (world: World, server: number, key: KeyModel): Promise<ApiKeyView> => {
  const view = await world.lookUp(server, key)
  assert.ok(view !== undefined, "a valid key is unknown")
  return view
}

/** A server that can reach nothing refuses every call. */
const canAsk = ({ isOut, traits }: Pick<Model, "isOut" | "traits">) => !isOut || traits.outage === "of writes"

/** One call at a time: the reference says what comes of it. */
const holdAsJudged = async (
  world: World,
  asked: { readonly server: number; readonly key: KeyModel; readonly view: ApiKeyView; readonly call: Call }
): Promise<HoldModel | undefined> => {
  const { call, key, server, view } = asked
  const { model } = world
  const judged = model.judge(key, call.credits)
  const outcome = await world.hold(server, view, call)
  const isHeld = typeof outcome === "object"
  assert.equal(isHeld ? "held" : outcome, judged)
  if (!isHeld) return undefined
  return world.keep({ key, server, ...call, admittedAt: model.now, budget: key.budget }, outcome)
}

const hold = step("hold", fc.record({ server: choice, key: choice, call: calls }), {
  can: (model) => model.validKeys().length > 0 && canAsk(model),
  happens: async (world, { call, key: anyKey, server: anyServer }) => {
    const server = world.serverAt(anyServer)
    const key = pick(world.model.validKeys(), anyKey)
    await holdAsJudged(world, { server, key, view: await viewOf(world, server, key), call })
  }
})

const callWithStaleView = step("hold with a key that has changed", fc.record({ which: choice, call: calls }), {
  can: ({ isOut, keys }) => !isOut && keys.some(({ revision }) => revision > 1),
  happens: async (world, { call, which }) => {
    if (world.stale.length === 0) return
    const { server, view } = pick(world.stale, which)
    assert.equal(await world.server(server).isCurrent(view, world.model.now), false)
    assert.equal(await world.hold(server, view, call), "key_changed")
  }
})

const open = (model: { holds: ReadonlyArray<unknown> }) => model.holds.length > 0

const commit = step("commit", fc.record({ which: choice }), {
  can: open,
  happens: async (world, { which }) => {
    const held = pick(world.model.holds, which)
    await world.commit(held)
    assert.equal(world.server(held.server).writable(), !world.model.isOut)
  }
})

const commitAndMore = step(
  "commit, and end it again and hold meanwhile",
  fc.record({ which: choice, again: fc.constantFrom("release", "commit", "both"), call: calls }),
  {
    can: (model) => open(model) && canAsk(model),
    happens: async (world, { again, call, which }) => {
      const { model } = world
      const held = pick(model.holds, which)
      const { key, server } = held
      const view = await world.lookUp(server, key)
      const first = world.commit(held)
      if (again !== "commit") world.handleOf(held).release()
      const second = again === "release" ? false : world.commits(held, world.newRequestId())
      if (view !== undefined) {
        // the price stays set aside until the charge is written
        if (model.traits.knowsRemaining) {
          assert.equal(
            world.server(server).remaining(view, model.now),
            model.remaining(key),
            "remaining() while charging"
          )
        }
        await holdAsJudged(world, { server, key, view, call })
      }
      await first
      assert.equal(await second, false, "a hold was charged twice")
      world.note("ended twice at once")
    }
  }
)

const commitWithUsedId = step("commit with a request id that was charged", fc.record({ which: choice, id: choice }), {
  can: (model) => open(model) && model.charged.length > 0,
  happens: async (world, { id, which }) => {
    const held = pick(world.model.holds, which)
    assert.equal(await world.commits(held, pick(world.model.charged, id)), false, "a request id was charged twice")
    world.settle(held, undefined)
    world.note("request id again")
  }
})

const commitTwoWithOneId = step("commit two holds with one request id", fc.record({ one: choice, other: choice }), {
  can: ({ holds }) => holds.length > 1,
  happens: async (world, picks) => {
    const one = pick(world.model.holds, picks.one)
    const other = pick(
      world.model.holds.filter((held) => held !== one),
      picks.other
    )
    const id = world.newRequestId()
    const resolved = await Promise.all([world.commits(one, id), world.commits(other, id)])
    assert.equal(resolved.filter(Boolean).length, world.model.isOut ? 0 : 1, `resolved: ${resolved}`)
    world.settle(one, resolved[0] ? id : undefined)
    world.settle(other, resolved[1] ? id : undefined)
    world.note("one request id at once")
  }
})

const release = step("release", fc.record({ which: choice }), {
  can: open,
  happens: async (world, { which }) => world.release(pick(world.model.holds, which))
})

const endAgain = step(
  "end a hold that has ended",
  fc.record({ which: choice, by: fc.constantFrom("release", "commit") }),
  {
    can: ({ ended }) => ended.length > 0,
    happens: async (world, { by, which }) => {
      const held = pick(world.model.ended, which)
      if (by === "release") world.handleOf(held).release()
      else assert.equal(await world.commits(held, world.newRequestId()), false, "an ended hold was charged")
      world.note(`${by} after the end`)
    }
  }
)

const endMany = step(
  "end many at once",
  fc.array(fc.constantFrom("commit", "commit", "release", "leave"), { minLength: 2, maxLength: 30 }),
  {
    can: ({ holds }) => holds.length > 1,
    happens: async (world, ends) => {
      const holds: ReadonlyArray<HoldModel> = world.model.holds
      await Promise.all(
        holds.map(async (held, index) => {
          const how = pick(ends, index)
          if (how === "commit") await world.commit(held)
          if (how === "release") world.release(held)
        })
      )
      world.note("many ended at once")
    }
  }
)

/**
 * Two servers share an account, and then one of them is alone: it decides within a slice first, and by a lease after a pause.
 * An open call of the other one would keep the lease away.
 */
const oneServerAfterAnother = step(
  "calls on one server after another",
  fc.record({ server: choice, key: choice, count: fc.integer({ min: 2, max: 6 }), pause: fc.boolean() }),
  {
    can: (model) => !model.isOut && model.validKeys().length > 0,
    happens: async (world, { count, key: anyKey, pause, server: first }) => {
      const key = pick(world.model.validKeys(), anyKey)
      const callOn = async (server: number) => {
        const view = await viewOf(world, server, key)
        const held = await holdAsJudged(world, { server, key, view, call: cheap })
        if (held !== undefined) await world.commit(held)
      }
      const ofAccount = world.model.holds.filter((held) => held.key.account === key.account)
      if (pause) for (const held of ofAccount) world.release(held)
      const second = world.serverAt(first + 1)
      await callOn(world.serverAt(first))
      for (let time = 0; time < count; time++) await callOn(second)
      if (pause && world.subject.servers().length > 1) await sleep(longEnoughAlone)
      for (let time = 0; time < count; time++) await callOn(second)
      world.note("one server after another")
    }
  }
)
/** Milliseconds. Servers that always want leases wait for 50 without calls of another one. */
const longEnoughAlone = 60

export const callSteps = [
  { weight: 20, arbitrary: hold },
  { weight: 4, arbitrary: callWithStaleView },
  { weight: 12, arbitrary: commit },
  { weight: 3, arbitrary: commitAndMore },
  { weight: 3, arbitrary: commitWithUsedId },
  { weight: 3, arbitrary: commitTwoWithOneId },
  { weight: 5, arbitrary: release },
  { weight: 4, arbitrary: endAgain },
  { weight: 6, arbitrary: endMany },
  { weight: 5, arbitrary: oneServerAfterAnother }
]
