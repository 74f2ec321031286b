/** Changes by operators and payments in a burst. Each key and account is changed once: the order of changes is unknown. */
import assert from "node:assert/strict"
import { Result } from "effect"
import fc from "fast-check"
import { bookConcurrently, newBooking, receivedMoney, recordInModel, returnedMoney } from "./booking-steps.ts"
import type { Burst } from "./burst.ts"
import { maxWait, wait } from "./burst-calls.ts"
import { type AccountModel, isKnown, type KeyModel, type Terms, timeOf } from "./model.ts"
import {
  budget,
  choice,
  createKey,
  editInput,
  expiry,
  expiryFrom,
  formerAt,
  maxKeys,
  overlapHours,
  scopes
} from "./operator-steps.ts"
import { pick } from "./steps.ts"

const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("budget" as const),
      key: choice,
      /** More than what was spent this month. Mostly enough for some more calls. */
      more: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: 0, max: 20_000 }))
    })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("scopes" as const), key: choice, scopes }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("expiry" as const), key: choice, expiry }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("rotation" as const), key: choice, hours: overlapHours }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("revocation" as const), key: choice }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("suspension" as const), account: choice }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("credits" as const),
      account: choice,
      credits: fc.integer({ min: 1, max: 12_000 })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("money" as const),
      account: choice,
      movement: fc.oneof({ weight: 5, arbitrary: receivedMoney }, { weight: 2, arbitrary: returnedMoney }),
      times: fc.integer({ min: 1, max: 3 })
    })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("repeated booking" as const), which: choice }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("new key" as const), account: choice, scopes, budget, expiry })
  }
)
export const plannedChange = fc.record({ server: choice, turns: fc.nat(maxWait), change })
export type PlannedChange = typeof plannedChange extends fc.Arbitrary<infer A> ? A : never
type Change = PlannedChange["change"]
type KeyChange = Extract<Change, { readonly key: number }>

/** `makeChange` returns what the operator learns only then: a new secret. */
const changeKey = async (
  burst: Burst,
  key: KeyModel,
  terms: Partial<Terms>,
  makeChange: () => Promise<Partial<Terms>>
) => {
  const { overlaps } = burst
  const from = overlaps.moment()
  const endBefore = burst.terms.begin(key, { ...key, ...terms, revision: key.revision + 1 }, from)
  const learned = await makeChange()
  const span = burst.span(from)
  endBefore(span.to)
  if (terms.budget !== undefined) burst.recordBudget(key, terms.budget - key.budget, span)
  burst.afterwards(() => {
    Object.assign(key, terms, learned)
    key.revision++
  })
}

const changeTerms = async (burst: Burst, server: number, change: KeyChange) => {
  const { world } = burst
  const { now } = world.model
  const keys = world.model.notRevoked().filter((key) => !burst.terms.isChanged(key))
  if (keys.length === 0) return
  const key = pick(keys, change.key)
  const key_id = key.id
  const edit = (terms: Partial<Terms>) =>
    changeKey(burst, key, terms, async () => {
      await world.change(server, ({ editKey }) => editKey({ key_id, ...editInput(terms) }))
      return {}
    })
  if (change.what === "budget") await edit({ budget: Math.max(0, world.model.spent(key) + change.more) })
  if (change.what === "scopes") await edit({ scopes: change.scopes })
  if (change.what === "expiry") await edit({ expiresAt: expiryFrom(now, change.expiry) })
  if (change.what === "revocation") {
    await changeKey(burst, key, { revokedAt: timeOf(now) }, async () => {
      await world.change(server, ({ revokeKey }) => revokeKey({ key_id }))
      return {}
    })
  }
  if (change.what === "rotation" && isKnown(key, key.secret, now)) {
    const former = formerAt(now, key.secret, change.hours)
    await changeKey(burst, key, { former, secret: "not known yet" }, async () => {
      const rotated = await world.change(server, ({ rotateKey }) => rotateKey({ key_id, overlap_hours: change.hours }))
      assert.ok(rotated !== undefined)
      return { secret: rotated.key }
    })
  }
}

const suspend = async (burst: Burst, server: number, account: AccountModel) => {
  const { overlaps, suspensions, world } = burst
  if (suspensions.isChanged(account)) return
  const isSuspended = account.suspendedAt !== null
  const endBefore = suspensions.begin(account, !isSuspended, overlaps.moment())
  const input = { account_id: account.id, note: "in a burst" }
  await world.change(server, ({ resumeAccount, suspendAccount }) =>
    isSuspended ? resumeAccount(input) : suspendAccount(input)
  )
  endBefore(overlaps.moment())
  burst.afterwards(() => {
    account.suspendedAt = isSuspended ? null : timeOf(world.model.now)
  })
}

const moveMoney = async (burst: Burst, server: number, change: Extract<Change, { readonly what: "money" }>) => {
  const { overlaps, world } = burst
  const account = pick(world.model.accounts, change.account)
  const booking = newBooking(world, account, change.movement)
  const from = overlaps.moment()
  const results = (await bookConcurrently(world, server, booking, change.times)).map(Result.getOrThrow)
  assert.equal(results.filter(({ booked }) => booked).length, 1, `${booking.reference} was not booked exactly once`)
  const balances = results.map(({ balance_credits }) => balance_credits)
  burst.recordMovement(account, booking.credits, burst.span(from), balances)
  burst.afterwards(() => recordInModel(world, account, booking))
  world.note(booking.credits > 0 ? "burst with money received" : "burst with money returned")
}

const repeatBooking = async (burst: Burst, server: number, which: number) => {
  const { overlaps, world } = burst
  const { accounts, bookings } = world.model
  if (bookings.length === 0) return
  const booking = pick(bookings, which)
  const account = accounts.find(({ id }) => id === booking.account_id)
  assert.ok(account !== undefined)
  const from = overlaps.moment()
  const [result] = (await bookConcurrently(world, server, booking, 1)).map(Result.getOrThrow)
  assert.ok(result !== undefined && !result.booked, `${booking.reference} was booked twice`)
  burst.readBalances(account, burst.span(from), [result.balance_credits])
}

export const makeChange = async (burst: Burst, { change, server: anyServer, turns }: PlannedChange): Promise<void> => {
  const { overlaps, world } = burst
  const { model } = world
  await wait(turns)
  const server = world.serverAt(anyServer)
  if (change.what === "suspension") await suspend(burst, server, pick(model.accounts, change.account))
  else if (change.what === "money") await moveMoney(burst, server, change)
  else if (change.what === "repeated booking") await repeatBooking(burst, server, change.which)
  else if (change.what === "new key") {
    if (model.keys.length < maxKeys) await createKey(world, server, change)
  } else if (change.what === "credits") {
    const account = pick(model.accounts, change.account)
    const { credits } = change
    const from = overlaps.moment()
    const input = { account_id: account.id, credits, note: "in between" }
    const credited = await world.change(server, ({ creditAccount }) => creditAccount(input))
    assert.ok(credited !== undefined)
    burst.recordMovement(account, credits, burst.span(from), [credited.balance_credits])
    burst.afterwards(() => model.book(account, "adjustment", credits, "in between"))
  } else await changeTerms(burst, server, change)
  world.note(`burst with ${change.what}`)
}
