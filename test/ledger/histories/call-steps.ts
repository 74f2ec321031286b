/** Calls: single and concurrent holds, with every outcome. */
import assert from "node:assert/strict"
import type { Scope } from "@larder/schemas"
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
const cheap: Call = { endpoint: "/v1/commodities/prices", credits: 10 }
export const calls: fc.Arbitrary<Call> = fc.constantFrom(cheap, { endpoint: "/v1/stores", credits: 100 })

/** The request pipeline refuses a call without the scope before it asks for a hold, so any scope of the key will do. */
export const scopeOf = ({ scopes: [scope] }: KeyModel): Scope => {
  assert.ok(scope !== undefined, "a key without scopes")
  return scope
}

export const lookUpValidKey = async (world: World, server: number, key: KeyModel): Promise<ApiKeyView> => {
  const view = await world.lookUp(server, key)
  assert.ok(view !== undefined, "a valid key is unknown")
  return view
}

/** A server that cannot reach its database refuses every call. */
const isReachable = ({ isDown, traits }: Pick<Model, "isDown" | "traits">) => !isDown || traits.outage === "of writes"

/** Holds a single call, whose outcome must be that of the model. `ending` is a hold whose charge is being decided. */
const holdLikeModel = async (
  world: World,
  request: {
    readonly server: number
    readonly key: KeyModel
    readonly view: ApiKeyView
    readonly call: Call
    readonly ending?: HoldModel
  }
): Promise<HoldModel | undefined> => {
  const { call, ending, key, server, view } = request
  const { model } = world
  const expected: Array<unknown> = [model.decide(key, server, call.credits)]
  // if the charge is refused, the hold may end before or after this call is decided
  if (ending !== undefined && model.decideCharge(ending) !== "charged") {
    expected.push(model.decideWithout(ending, key, server, call.credits))
  }
  const scope = scopeOf(key)
  const outcome = await world.hold(server, view, { ...call, scope })
  const isHeld = typeof outcome === "object"
  assert.ok(
    expected.includes(isHeld ? "held" : outcome),
    `${isHeld ? "held" : outcome} instead of ${expected.join(" or ")}`
  )
  if (!isHeld) return undefined
  const { budget, secret } = key
  return world.keep({ key, secret, server, ...call, scope, admittedAt: model.now, budget }, outcome)
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
    const stale = world.stale.filter(({ key, view }) => view.revision !== key.revision) // not one that has only expired
    if (stale.length === 0) return
    const { key, server, view } = pick(stale, which)
    assert.equal(await world.server(server).isCurrent(view, world.model.now), false)
    assert.equal(await world.hold(server, view, { ...call, scope: scopeOf(key) }), "key_changed")
  }
})

const hasHolds = (model: { holds: ReadonlyArray<unknown> }) => model.holds.length > 0

const commit = step("commit", fc.record({ which: choice }), {
  isPossible: hasHolds,
  run: async (world, { which }) => {
    const held = pick(world.model.holds, which)
    await world.commitAlone(held)
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
      const view = model.validKeys().includes(key) ? await world.lookUp(server, key) : undefined
      const first = world.commit(held)
      if (secondEnd !== "commit") world.handleOf(held).release()
      const second = secondEnd === "release" ? "rejected" : world.tryCommit(held, world.newRequestId())
      if (view !== undefined) {
        // the price stays held until the charge is written
        if (model.traits.hasExactRemaining) {
          assert.equal(
            world.server(server).remaining(view, model.now),
            model.remaining(key, server),
            "remaining() while charging"
          )
        }
        await holdLikeModel(world, { server, key, view, call, ending: held })
      }
      await first
      assert.equal(await second, "rejected", "a hold was charged twice")
      world.note("ended twice concurrently")
    }
  }
)

const commitWithUsedId = step("commit with a request id that was charged", fc.record({ which: choice, id: choice }), {
  isPossible: (model) => hasHolds(model) && model.charged.length > 0,
  run: async (world, { id, which }) => {
    const held = pick(world.model.holds, which)
    const used = pick(world.model.charged, id)
    const expected = world.model.isDown ? "charged" : world.model.decideCharge(held)
    const outcome = await world.tryCommit(held, used)
    assert.equal(outcome, expected === "charged" ? "rejected" : expected, "a request id was charged twice")
    world.settle(held, outcome, used)
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
    const possible = [first, second].filter((held) => world.model.decideCharge(held) === "charged")
    const [one, other] = await Promise.all([world.tryCommit(first, id), world.tryCommit(second, id)])
    const charged = [one, other].filter((outcome) => outcome === "charged")
    assert.equal(charged.length, world.model.isDown ? 0 : Math.min(1, possible.length), `${one}, ${other}`)
    world.settle(first, one, id)
    world.settle(second, other, id)
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
      else assert.equal(await world.tryCommit(held, world.newRequestId()), "rejected", "an ended hold was charged")
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

export const callSteps = [
  { weight: 20, arbitrary: hold },
  { weight: 4, arbitrary: callWithStaleView },
  { weight: 12, arbitrary: commit },
  { weight: 3, arbitrary: commitTwiceAndHold },
  { weight: 3, arbitrary: commitWithUsedId },
  { weight: 3, arbitrary: commitTwoWithOneId },
  { weight: 5, arbitrary: release },
  { weight: 4, arbitrary: endAgain },
  { weight: 6, arbitrary: endMany }
]
