/** Money that is received and returned: each movement is booked once, even if it is reported several times. */
import assert from "node:assert/strict"
import type { Entry } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { entryTypes } from "@larder/serve/ledger/chain/records.ts"
import { Result } from "effect"
import fc from "fast-check"
import { lookUpValidKey, scopeOf } from "./call-steps.ts"
import type { AccountModel, Model } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

type Movement = Pick<Booking, "type" | "credits">
export const receivedMoney: fc.Arbitrary<Movement> = fc.record({
  type: fc.constantFrom("top_up", "top_up", "auto_recharge", "refund", "adjustment"),
  credits: fc.integer({ min: 1, max: 5_000 })
})
export const returnedMoney: fc.Arbitrary<Movement> = fc.record({
  type: fc.constantFrom("refund", "adjustment"),
  credits: fc.integer({ min: -1_500, max: -1 })
})

export const newBooking = (world: World, account: AccountModel, movement: Movement): Booking => {
  const reference = `pay_${world.newRequestId()}`
  return { ...movement, account_id: account.id, reference, note: `because of ${reference}` }
}

export const recordInModel = ({ model }: World, account: AccountModel, booking: Booking): void => {
  model.book(account, booking.type, booking.credits, booking.note, booking.reference)
  model.bookings.push(booking)
}

/** Requests the same booking several times concurrently. */
export const bookConcurrently = async (world: World, server: number, booking: Booking, times: number) => {
  const results = Array.from({ length: times }, (_, time) =>
    world.operate(world.serverAt(server + time), (administration) => administration.book(booking))
  )
  return Promise.all(results)
}

const book = step(
  "book",
  fc.record({
    server: choice,
    account: choice,
    movement: fc.oneof({ weight: 3, arbitrary: receivedMoney }, { weight: 1, arbitrary: returnedMoney }),
    times: fc.integer({ min: 1, max: 4 })
  }),
  {
    run: async (world, { account: anyAccount, server, times, movement }) => {
      const { model } = world
      const account = pick(model.accounts, anyAccount)
      const booking = newBooking(world, account, movement)
      const results = await bookConcurrently(world, server, booking, times)
      if (model.isDown) {
        for (const result of results) {
          assert.ok(Result.isFailure(result) && result.failure._tag === "LedgerUnavailable", "booked in an outage")
        }
        return
      }
      recordInModel(world, account, booking)
      const outcomes = results.map(Result.getOrThrow)
      assert.equal(outcomes.filter(({ booked }) => booked).length, 1, "not booked exactly once")
      for (const { balance_credits } of outcomes) assert.equal(balance_credits, model.balance(account))
      world.note(times > 1 ? "booked concurrently" : "booked")
    }
  }
)

const hasBookings = ({ bookings, isDown }: Pick<Model, "bookings" | "isDown">) => !isDown && bookings.length > 0

const bookAgain = step("book again", fc.record({ server: choice, which: choice, credits: choice }), {
  isPossible: hasBookings,
  run: async (world, { credits, server, which }) => {
    const { model } = world
    const booking = { ...pick(model.bookings, which), credits: credits + 1 }
    const [result] = await bookConcurrently(world, server, booking, 1)
    assert.ok(result !== undefined)
    const account = model.accounts.find(({ id }) => id === booking.account_id)
    assert.ok(account !== undefined)
    assert.deepEqual(Result.getOrThrow(result), { booked: false, balance_credits: model.balance(account) })
    world.note("booked again")
  }
})

const bookForAnother = step("book for another account", fc.record({ server: choice, which: choice, other: choice }), {
  isPossible: (model) => hasBookings(model) && model.accounts.length > 1,
  run: async (world, { other, server, which }) => {
    const booking = pick(world.model.bookings, which)
    const others = world.model.accounts.filter(({ id }) => id !== booking.account_id)
    const [result] = await bookConcurrently(world, server, { ...booking, account_id: pick(others, other).id }, 1)
    assert.ok(result !== undefined && Result.isFailure(result) && result.failure._tag === "ReferenceTaken")
    world.note("reference taken")
  }
})

/** Held calls can still be charged, but no other call is held. */
const bookBelowZero = step(
  "book below 0",
  fc.record({
    server: choice,
    account: choice,
    type: fc.constantFrom("refund" as const, "adjustment" as const),
    more: fc.integer({ min: 1, max: 800 })
  }),
  {
    isPossible: ({ isDown }) => !isDown,
    run: async (world, { account: anyAccount, more, server: anyServer, type }) => {
      const { model } = world
      const server = world.serverAt(anyServer)
      const account = pick(model.accounts, anyAccount)
      const booking = newBooking(world, account, {
        type,
        credits: -(Math.max(0, model.available(account, server)) + more)
      })
      const [result] = await bookConcurrently(world, server, booking, 1)
      assert.ok(result !== undefined && Result.getOrThrow(result).booked)
      recordInModel(world, account, booking)
      world.note("below 0")
      const [key] = model.validKeys().filter((key) => key.account === account)
      if (key === undefined) return
      const call = { endpoint: "/v1/stores", scope: scopeOf(key), credits: 100 }
      assert.equal(await world.hold(server, await lookUpValidKey(world, server, key), call), "insufficient_balance")
    }
  }
)

const page = step(
  "read page",
  fc.record({
    server: choice,
    account: choice,
    before: fc.option(fc.nat(400)),
    limit: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000 })),
    types: fc.option(fc.subarray([...entryTypes]), { nil: undefined })
  }),
  {
    isPossible: ({ isDown, traits }) => !isDown || traits.outage === "of writes",
    run: async (world, { account, before, limit, server, types }) => {
      const { id } = pick(world.model.accounts, account)
      const query = { account_id: id, before, limit, types }
      const { administration } = world.server(world.serverAt(server))
      const isRequested = ({ position, type }: Entry) =>
        position < (before ?? Number.POSITIVE_INFINITY) && (types === undefined || types.includes(type))
      const entries = (await world.subject.entriesOf(id)).filter(isRequested).slice(-limit).toReversed()
      assert.deepEqual(await world.run(administration.entriesBefore(query)), entries)
      world.note("page")
    }
  }
)

export const bookingSteps = [
  { weight: 5, arbitrary: book },
  { weight: 3, arbitrary: bookAgain },
  { weight: 1, arbitrary: bookForAnother },
  { weight: 1, arbitrary: bookBelowZero },
  { weight: 4, arbitrary: page }
]
