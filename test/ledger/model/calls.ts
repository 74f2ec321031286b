/** Calls like those of the request pipeline, with every outcome of their holds. */
import assert from "node:assert/strict"
import { type Call, isKnown, type Refusal } from "./rules.ts"
import type { UsedHold, UsedKey, World } from "./world.ts"

/** Waits for turns of the event loop, so that the calls of a batch begin and end in many orders. */
export const wait = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export type Fate = "commit" | "release" | "commit and release" | "commit with a used id" | "stay open"

/** All random decisions about a call, drawn before the batch begins. */
export interface PlannedCall {
  readonly server: number
  readonly key: UsedKey
  readonly secret: string
  readonly call: Call
  readonly fate: Fate
  /** Turns of the event loop: until the call begins, from its lookup to its hold, and from the hold to its end. */
  readonly startTurns: number
  readonly lookupTurns: number
  readonly holdTurns: number
}

/** A changed key is looked up again; no call meets more changes than those of one batch. */
const maxAttempts = 20

const admit = async (world: World, { call, key, lookupTurns, secret, server }: PlannedCall) => {
  const { now } = world.model
  const ledger = world.server(server)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const from = world.overlaps.moment()
    const makeSpan = () => ({ from, to: world.overlaps.moment() })
    const view = await ledger.authenticate(secret, now)
    if (view === undefined) return { outcome: "unknown", span: makeSpan() } as const
    assert.equal(view.id, key.id)
    await wait(lookupTurns)
    if (!view.scopes.has(call.scope)) {
      if (await ledger.isCurrent(view, now)) return { outcome: "forbidden", span: makeSpan() } as const
    } else {
      const admission = await ledger.hold(view, call, now)
      if ("held" in admission) return { outcome: "held", held: admission.held, span: makeSpan() } as const
      if (admission.refused !== "key_changed") return { outcome: admission.refused, span: makeSpan() } as const
    }
    world.count("key changed before the hold")
  }
  throw new Error(`key ${key.id} was looked up ${maxAttempts} times and is not current`)
}

export const makeCall = async (world: World, planned: PlannedCall): Promise<void> => {
  const { call, fate, holdTurns, key, secret, server, startTurns } = planned
  const { model, overlaps } = world
  await wait(startTurns)
  const { outcome, span, ...admitted } = await admit(world, planned)
  world.note(outcome)

  const terms = world.termsWithin(key, span)
  const known = terms.filter((version) => isKnown(version, secret, model.now))
  if (outcome === "unknown") {
    assert.ok(known.length < terms.length, `key ${key.id} is unknown`)
    return
  }
  const fitting = known.filter(({ scopes }) => scopes.includes(call.scope) === (outcome !== "forbidden"))
  assert.ok(fitting.length > 0, `${outcome} for key ${key.id}, which has ${JSON.stringify(terms)}`)
  if (outcome === "forbidden") return
  overlaps.decide(model.limits(key), call.credits, outcome satisfies "held" | Refusal, span)
  if (!("held" in admitted)) return

  overlaps.change(model.limits(key), -call.credits, span)
  const budgets = fitting.map(({ budget }) => budget)
  const hold = { key, call, server, at: model.now, budgets, held: admitted.held }
  model.hold(hold)
  await wait(holdTurns)
  await end(world, hold, fate)
}

export const release = (world: World, hold: UsedHold): void => {
  const from = world.overlaps.moment()
  hold.held.release()
  recordRelease(world, hold, from)
  world.note("released")
}

/** Other servers see a released hold with the next group at the earliest, and always when nothing is in flight. */
const recordRelease = ({ isShared, model, overlaps }: World, hold: UsedHold, from: number) => {
  const to = isShared ? Number.POSITIVE_INFINITY : overlaps.moment()
  overlaps.change(model.limits(hold.key, hold.at), hold.call.credits, { from, to })
  model.release(hold)
}

const commit = async (world: World, hold: UsedHold, isReleased: boolean) => {
  const { model, overlaps } = world
  const { credits } = hold.call
  const requestId = world.newName("req")
  const from = overlaps.moment()
  const charged = hold.held.commit(requestId)
  if (isReleased) hold.held.release() // has no effect on a call that is being charged
  await charged
  const span = { from, to: overlaps.moment() }
  overlaps.change([world.balanceOf(hold.key.account)], -credits, span, Number.POSITIVE_INFINITY)
  model.charge(hold, requestId)
  world.charged.push(requestId)
  world.note("charged")
  if (hold.at !== model.now) world.count("charged later than admitted")
}

const commitWithUsedId = async (world: World, hold: UsedHold, usedId: string) => {
  const from = world.overlaps.moment()
  await assert.rejects(hold.held.commit(usedId), `request ${usedId} was charged twice`)
  recordRelease(world, hold, from)
  world.note("request id refused")
}

export const end = async (world: World, hold: UsedHold, fate: Fate): Promise<void> => {
  const [usedId] = world.charged
  if (fate === "stay open") {
    world.open.push(hold)
    return
  }
  if (fate === "release") release(world, hold)
  else if (fate === "commit with a used id" && usedId !== undefined) await commitWithUsedId(world, hold, usedId)
  else await commit(world, hold, fate === "commit and release")
  if (fate !== "release") hold.held.release() // has no effect on an ended hold
}

/** Reads the remaining credits while calls are in flight. The value is compared if one server has all holds. */
export const readRemaining = async (world: World, { key, secret, server, startTurns }: PlannedCall): Promise<void> => {
  const { model, overlaps } = world
  await wait(startTurns)
  const ledger = world.server(server)
  const view = await ledger.authenticate(secret, model.now)
  if (view === undefined) return
  const from = overlaps.moment()
  const value = ledger.remaining(view, model.now)
  assert.ok(Number.isSafeInteger(value) && value >= 0)
  if (world.hasExactRemaining) overlaps.addRead(model.limits(key), value, { from, to: overlaps.moment() })
  world.note("remaining read")
}
