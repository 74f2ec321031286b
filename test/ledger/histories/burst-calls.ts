/** Calls of a burst, made like those of the request pipeline, with every end of their holds. */
import assert from "node:assert/strict"
import type { Scope } from "@larder/schemas"
import fc from "fast-check"
import type { Burst } from "./burst.ts"
import { type HoldModel, isKnown, type KeyModel } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick } from "./steps.ts"

/** Turns of the event loop, so that calls begin and end in many orders. */
export const maxWait = 30
export const wait = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface Call {
  readonly endpoint: string
  readonly scope: Scope
  readonly credits: number
}
const prices: Call = { endpoint: "/v1/commodities/prices", scope: "get-commodity-prices", credits: 10 }
const stores: Call = { endpoint: "/v1/stores", scope: "search-stores", credits: 100 }

export type Fate = "capture" | "capture and release" | "release" | "stay open" | "capture with a used id"
const anyFate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 660, arbitrary: fc.constant<Fate>("capture") },
  { weight: 60, arbitrary: fc.constant<Fate>("capture and release") },
  { weight: 180, arbitrary: fc.constant<Fate>("release") },
  { weight: 97, arbitrary: fc.constant<Fate>("stay open") },
  { weight: 3, arbitrary: fc.constant<Fate>("capture with a used id") } // each splits a group of hundreds
)
/** With these, the rest of a limit only shrinks, so less was left for a refused call than for any earlier one. */
const fateWithoutRelease: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Fate>("capture") },
  { weight: 1, arbitrary: fc.constant<Fate>("stay open") }
)

export const fateIn = (isShrinking: boolean) => (isShrinking ? fateWithoutRelease : anyFate)

export const plannedCall = (fate: fc.Arbitrary<Fate>) =>
  fc.record({
    server: choice,
    /** One of ten is made with any key, also a revoked or expired one, and without regard to its scopes. */
    isAny: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    key: choice,
    isFormer: fc.integer({ min: 0, max: 2 }).map((number) => number === 0),
    call: fc.constantFrom(prices, prices, stores),
    fate,
    startTurns: fc.nat(maxWait),
    lookupTurns: fc.nat(1),
    holdTurns: fc.nat(4)
  })
export type PlannedCall = ReturnType<typeof plannedCall> extends fc.Arbitrary<infer A> ? A : never

interface MadeCall {
  readonly server: number
  readonly key: KeyModel
  readonly secret: string
  readonly call: Call
}

const choose = ({ world }: Burst, { call, isAny, isFormer, key: which, server }: PlannedCall): MadeCall => {
  const { keys, now } = world.model
  const callable = world.model.validKeys().filter(({ scopes }) => scopes.includes(call.scope))
  const key = pick(isAny || callable.length === 0 ? keys : callable, which)
  const secret = isFormer && key.former !== null ? key.former.secret : key.secret
  return { key, call, secret: isAny || isKnown(key, secret, now) ? secret : key.secret, server: world.serverAt(server) }
}

/** A changed key is looked up again; no call meets more changes than those of one burst. */
const maxAttempts = 20

const admit = async (burst: Burst, { call, key, secret, server }: MadeCall, lookupTurns: number) => {
  const { overlaps, world } = burst
  const { now } = world.model
  const ledger = world.server(server)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const from = overlaps.moment()
    const view = await ledger.authenticate(secret, now)
    if (view === undefined) return { outcome: "unknown_key", span: burst.span(from) } as const
    assert.equal(view.id, key.id)
    if (view.isSuspended) return { outcome: "account_suspended", span: burst.span(from) } as const
    await wait(lookupTurns)
    if (!view.scopes.has(call.scope)) {
      if (await ledger.isCurrent(view, now)) return { outcome: "missing_scope", span: burst.span(from) } as const
    } else {
      const outcome = await world.hold(server, view, call)
      assert.notEqual(outcome, "unavailable")
      if (typeof outcome === "object")
        return { outcome: "held", held: outcome, revision: view.revision, span: burst.span(from) } as const
      if (outcome === "insufficient_balance" || outcome === "monthly_spend_cap_reached")
        return { outcome, span: burst.span(from) } as const
    }
    world.note("key changed before the hold")
  }
  throw new Error(`key ${key.id} was looked up ${maxAttempts} times and is not current`)
}

export const makeCall = async (burst: Burst, planned: PlannedCall): Promise<void> => {
  const { world } = burst
  const made = choose(burst, planned)
  const { call, key, secret, server } = made
  await wait(planned.startTurns)
  const admitted = await admit(burst, made, planned.lookupTurns)
  const { outcome, span } = admitted
  burst.recordAdmission({ key, secret, ...call }, server, outcome, span)
  if (!("held" in admitted)) {
    if (!["insufficient_balance", "monthly_spend_cap_reached"].includes(outcome)) world.note(outcome)
    return
  }
  const terms = burst.terms.within(key, span).find(({ revision }) => revision === admitted.revision)
  assert.ok(terms !== undefined || world.model.traits.decidesAgain, `key ${key.id} was admitted with other terms`)
  const { budget } = terms ?? key
  const hold: HoldModel = { key, secret, server, ...call, admittedAt: world.model.now, budget }
  world.handles.set(hold, admitted.held)
  burst.recordHold(hold, span)
  await wait(planned.holdTurns)
  await end(burst, hold, planned.fate)
}

export const end = async (burst: Burst, hold: HoldModel, fate: Fate): Promise<void> => {
  const { overlaps, world } = burst
  const [used] = world.model.charged.slice(-1)
  if (fate === "stay open") return
  if (fate === "release") {
    const from = overlaps.moment()
    world.handleOf(hold).release()
    burst.recordRelease(hold, burst.span(from))
    burst.afterwards(() => {
      world.model.release(hold)
      world.note("released")
    })
    return
  }
  const isUsed = fate === "capture with a used id" && used !== undefined
  const id = isUsed ? used : world.newRequestId()
  const from = overlaps.moment()
  const capturing = world.tryCapture(hold, id)
  if (fate === "capture and release") world.handleOf(hold).release() // has no effect on a call that is being charged
  const outcome = await capturing
  const span = burst.span(from)
  if (isUsed && outcome === "rejected") {
    burst.recordRelease(hold, span)
    burst.afterwards(() => {
      world.settle(hold, outcome, id)
      world.note("used request id refused")
    })
    return
  }
  assert.ok(outcome !== "rejected", `the capture of ${id} was rejected`)
  assert.ok(!isUsed || outcome !== "charged", `request ${id} was charged twice`)
  burst.recordCapture(hold, outcome, id, span)
  world.handleOf(hold).release() // has no effect on an ended hold
}

/** Reads the remaining credits while calls are in flight. */
export const readRemaining = async (burst: Burst, planned: PlannedCall): Promise<void> => {
  const { overlaps, world } = burst
  const { model } = world
  const { key, secret, server } = choose(burst, planned)
  await wait(planned.startTurns)
  const ledger = world.server(server)
  const view = await ledger.authenticate(secret, model.now)
  if (view === undefined) return
  const from = overlaps.moment()
  const value = ledger.remaining(view, model.now)
  assert.ok(Number.isSafeInteger(value) && value >= 0)
  if (model.traits.hasExactRemaining) {
    overlaps.addRead(burst.limits(key, model.now, server), value, burst.span(from), 0)
  }
  world.note("remaining read")
}
