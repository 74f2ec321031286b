/** Calls: single and concurrent holds, with every outcome. */
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
/** The more expensive a call is, the sooner too little is left for a slice. */
const cheap: Call = { endpoint: "/v1/commodities/prices", credits: 10 }
export const calls: fc.Arbitrary<Call> = fc.constantFrom(cheap, { endpoint: "/v1/stores", credits: 100 })

export const lookUpValidKey = async (world: World, server: number, key: KeyModel): Promise<ApiKeyView> => {
  const view = await world.lookUp(server, key)
  assert.ok(view !== undefined, "a valid key is unknown")
  return view
}

/** A server that cannot reach its database refuses every call. */
const isReachable = ({ isDown, traits }: Pick<Model, "isDown" | "traits">) => !isDown || traits.outage === "of writes"

/** Holds a single call, whose outcome must be that of the model. */
const holdLikeModel = async (
  world: World,
  request: { readonly server: number; readonly key: KeyModel; readonly view: ApiKeyView; readonly call: Call }
): Promise<HoldModel | undefined> => {
  const { call, key, server, view } = request
  const { model } = world
  const expected = model.decide(key, call.credits)
  const outcome = await world.hold(server, view, call)
  const isHeld = typeof outcome === "object"
  assert.equal(isHeld ? "held" : outcome, expected)
  if (!isHeld) return undefined
  return world.keep({ key, server, ...call, admittedAt: model.now, budget: key.budget }, outcome)
}

const hold = step("hold", fc.record({ server: choice, key: choice, call: calls }), {
  isPossible: (model) => model.validKeys().length > 0 && isReachable(model),
  run: async (world, { call, key: anyKey, server: anyServer }) => {
    const server = world.serverAt(anyServer)
    const key = pick(world.model.validKeys(), anyKey)
    await holdLikeModel(world, { server, key, view: await lookUpValidKey(world, server, key), call })
  }
})

const callWithStaleView = step("hold with a key that has changed", fc.record({ which: choice, call: calls }), {
  isPossible: ({ isDown, keys }) => !isDown && keys.some(({ revision }) => revision > 1),
  run: async (world, { call, which }) => {
    if (world.stale.length === 0) return
    const { server, view } = pick(world.stale, which)
    assert.equal(await world.server(server).isCurrent(view, world.model.now), false)
    assert.equal(await world.hold(server, view, call), "key_changed")
  }
})

const hasHolds = (model: { holds: ReadonlyArray<unknown> }) => model.holds.length > 0

const commit = step("commit", fc.record({ which: choice }), {
  isPossible: hasHolds,
  run: async (world, { which }) => {
    const held = pick(world.model.holds, which)
    await world.commit(held)
    assert.equal(world.server(held.server).writable(), !world.model.isDown)
  }
})

const commitTwiceAndHold = step(
  "commit, and end it again and hold during the commit",
  fc.record({ which: choice, secondEnd: fc.constantFrom("release", "commit", "both"), call: calls }),
  {
    isPossible: (model) => hasHolds(model) && isReachable(model),
    run: async (world, { call, secondEnd, which }) => {
      const { model } = world
      const held = pick(model.holds, which)
      const { key, server } = held
      const view = await world.lookUp(server, key)
      const first = world.commit(held)
      if (secondEnd !== "commit") world.handleOf(held).release()
      const second = secondEnd === "release" ? false : world.tryCommit(held, world.newRequestId())
      if (view !== undefined) {
        // the price stays held until the charge is written
        if (model.traits.hasExactRemaining) {
          assert.equal(
            world.server(server).remaining(view, model.now),
            model.remaining(key),
            "remaining() while charging"
          )
        }
        await holdLikeModel(world, { server, key, view, call })
      }
      await first
      assert.equal(await second, false, "a hold was charged twice")
      world.note("ended twice concurrently")
    }
  }
)

const commitWithUsedId = step("commit with a request id that was charged", fc.record({ which: choice, id: choice }), {
  isPossible: (model) => hasHolds(model) && model.charged.length > 0,
  run: async (world, { id, which }) => {
    const held = pick(world.model.holds, which)
    assert.equal(await world.tryCommit(held, pick(world.model.charged, id)), false, "a request id was charged twice")
    world.settle(held, undefined)
    world.note("used request id refused")
  }
})

const commitTwoWithOneId = step("commit two holds with one request id", fc.record({ one: choice, other: choice }), {
  isPossible: ({ holds }) => holds.length > 1,
  run: async (world, picks) => {
    const first = pick(world.model.holds, picks.one)
    const second = pick(
      world.model.holds.filter((held) => held !== first),
      picks.other
    )
    const id = world.newRequestId()
    const resolved = await Promise.all([world.tryCommit(first, id), world.tryCommit(second, id)])
    assert.equal(resolved.filter(Boolean).length, world.model.isDown ? 0 : 1, `resolved: ${resolved}`)
    world.settle(first, resolved[0] ? id : undefined)
    world.settle(second, resolved[1] ? id : undefined)
    world.note("one request id twice concurrently")
  }
})

const release = step("release", fc.record({ which: choice }), {
  isPossible: hasHolds,
  run: async (world, { which }) => world.release(pick(world.model.holds, which))
})

const endAgain = step(
  "end a hold that has ended",
  fc.record({ which: choice, by: fc.constantFrom("release", "commit") }),
  {
    isPossible: ({ ended }) => ended.length > 0,
    run: async (world, { by, which }) => {
      const held = pick(world.model.ended, which)
      if (by === "release") world.handleOf(held).release()
      else assert.equal(await world.tryCommit(held, world.newRequestId()), false, "an ended hold was charged")
      world.note(`${by} after the end`)
    }
  }
)

const endMany = step(
  "end many concurrently",
  fc.array(fc.constantFrom("commit", "commit", "release", "leave"), { minLength: 2, maxLength: 30 }),
  {
    isPossible: ({ holds }) => holds.length > 1,
    run: async (world, ends) => {
      const holds: ReadonlyArray<HoldModel> = world.model.holds
      await Promise.all(
        holds.map(async (held, index) => {
          const ending = pick(ends, index)
          if (ending === "commit") await world.commit(held)
          if (ending === "release") world.release(held)
        })
      )
      world.note("many ended concurrently")
    }
  }
)

/**
 * Two servers share an account, and then only one of them calls: first it decides within a slice, and after a pause with a
 * lease. An open call of the other server would prevent the lease.
 */
const oneServerAfterAnother = step(
  "calls on one server after another",
  fc.record({ server: choice, key: choice, count: fc.integer({ min: 2, max: 6 }), pause: fc.boolean() }),
  {
    isPossible: (model) => !model.isDown && model.validKeys().length > 0,
    run: async (world, { count, key: anyKey, pause, server: first }) => {
      const key = pick(world.model.validKeys(), anyKey)
      const callOn = async (server: number) => {
        const view = await lookUpValidKey(world, server, key)
        const held = await holdLikeModel(world, { server, key, view, call: cheap })
        if (held !== undefined) await world.commit(held)
      }
      const holdsOfAccount = world.model.holds.filter((held) => held.key.account === key.account)
      if (pause) for (const held of holdsOfAccount) world.release(held)
      const second = world.serverAt(first + 1)
      await callOn(world.serverAt(first))
      for (let time = 0; time < count; time++) await callOn(second)
      if (pause && world.subject.servers().length > 1) await sleep(pauseBeforeLease)
      for (let time = 0; time < count; time++) await callOn(second)
      world.note("one server after another")
    }
  }
)
/** Milliseconds. Servers with eager leases wait for 50 without calls of another server. */
const pauseBeforeLease = 60

export const callSteps = [
  { weight: 20, arbitrary: hold },
  { weight: 4, arbitrary: callWithStaleView },
  { weight: 12, arbitrary: commit },
  { weight: 3, arbitrary: commitTwiceAndHold },
  { weight: 3, arbitrary: commitWithUsedId },
  { weight: 3, arbitrary: commitTwoWithOneId },
  { weight: 5, arbitrary: release },
  { weight: 4, arbitrary: endAgain },
  { weight: 6, arbitrary: endMany },
  { weight: 5, arbitrary: oneServerAfterAnother }
]
