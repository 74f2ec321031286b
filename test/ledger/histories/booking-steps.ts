/** Money that comes in and goes out: booked once however often it is told, also more of it out than there is. */
import assert from "node:assert/strict"
import { type Booking, type Entry, entryTypes } from "@larder/serve/ledger"
import { Result } from "effect"
import fc from "fast-check"
import { viewOf } from "./call-steps.ts"
import type { AccountModel, Model } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

type Told = Pick<Booking, "type" | "credits">
const moneyIn: fc.Arbitrary<Told> = fc.record({
  type: fc.constantFrom("top_up", "top_up", "auto_recharge", "refund", "adjustment"),
  credits: fc.integer({ min: 1, max: 5_000 })
})
const moneyOut: fc.Arbitrary<Told> = fc.record({
  type: fc.constantFrom("refund", "adjustment"),
  credits: fc.integer({ min: -1_500, max: -1 })
})

export const newBooking = (world: World, account: AccountModel, told: Told): Booking => {
  const reference = `pay_${world.newRequestId()}`
  return { ...told, account_id: account.id, reference, note: `because of ${reference}` }
}

export const tellReference = ({ model }: World, account: AccountModel, booking: Booking): void => {
  model.book(account, booking.type, booking.credits, booking.note, booking.reference)
  model.bookings.push(booking)
}

/** Tells the servers of it so often, all at once. */
const bookAtOnce = async (world: World, server: number, booking: Booking, times: number) => {
  const answers = Array.from({ length: times }, (_, time) =>
    world.ask(world.serverAt(server + time), (administration) => administration.book(booking))
  )
  return Promise.all(answers)
}

const book = step(
  "book",
  fc.record({
    server: choice,
    account: choice,
    told: fc.oneof({ weight: 3, arbitrary: moneyIn }, { weight: 1, arbitrary: moneyOut }),
    times: fc.integer({ min: 1, max: 4 })
  }),
  {
    happens: async (world, { account: anyAccount, server, times, told }) => {
      const { model } = world
      const account = pick(model.accounts, anyAccount)
      const booking = newBooking(world, account, told)
      const answers = await bookAtOnce(world, server, booking, times)
      if (model.isOut) {
        for (const answer of answers) {
          assert.ok(Result.isFailure(answer) && answer.failure._tag === "LedgerUnavailable", "booked in an outage")
        }
        return
      }
      tellReference(world, account, booking)
      const outcomes = answers.map(Result.getOrThrow)
      assert.equal(outcomes.filter(({ booked }) => booked).length, 1, "not booked once")
      for (const { balance_credits } of outcomes) assert.equal(balance_credits, model.balance(account))
      world.note(times > 1 ? "booked at once" : "booked")
    }
  }
)

const hasBookings = ({ bookings, isOut }: Pick<Model, "bookings" | "isOut">) => !isOut && bookings.length > 0

const bookAgain = step("book again", fc.record({ server: choice, which: choice, credits: choice }), {
  can: hasBookings,
  happens: async (world, { credits, server, which }) => {
    const { model } = world
    const booking = { ...pick(model.bookings, which), credits: credits + 1 }
    const [answer] = await bookAtOnce(world, server, booking, 1)
    assert.ok(answer !== undefined)
    const account = model.accounts.find(({ id }) => id === booking.account_id)
    assert.ok(account !== undefined)
    assert.deepEqual(Result.getOrThrow(answer), { booked: false, balance_credits: model.balance(account) })
    world.note("booked again")
  }
})

const bookForAnother = step("book for another account", fc.record({ server: choice, which: choice, other: choice }), {
  can: (model) => hasBookings(model) && model.accounts.length > 1,
  happens: async (world, { other, server, which }) => {
    const booking = pick(world.model.bookings, which)
    const others = world.model.accounts.filter(({ id }) => id !== booking.account_id)
    const [answer] = await bookAtOnce(world, server, { ...booking, account_id: pick(others, other).id }, 1)
    assert.ok(answer !== undefined && Result.isFailure(answer) && answer.failure._tag === "ReferenceTaken")
    world.note("reference taken")
  }
})

/** Calls that are held go on to their charge, and no call is held any more. */
const belowZero = step(
  "money out below 0",
  fc.record({
    server: choice,
    account: choice,
    type: fc.constantFrom("refund" as const, "adjustment" as const),
    more: fc.integer({ min: 1, max: 800 })
  }),
  {
    can: ({ isOut }) => !isOut,
    happens: async (world, { account: anyAccount, more, server: anyServer, type }) => {
      const { model } = world
      const server = world.serverAt(anyServer)
      const account = pick(model.accounts, anyAccount)
      const booking = newBooking(world, account, { type, credits: -(Math.max(0, model.available(account)) + more) })
      const [answer] = await bookAtOnce(world, server, booking, 1)
      assert.ok(answer !== undefined && Result.getOrThrow(answer).booked)
      tellReference(world, account, booking)
      world.note("below 0")
      const [key] = model.validKeys().filter((key) => key.account === account)
      if (key === undefined) return
      const call = { endpoint: "/v1/stores", credits: 100 }
      assert.equal(await world.hold(server, await viewOf(world, server, key), call), "insufficient_balance")
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
    can: ({ isOut, traits }) => !isOut || traits.outage === "of writes",
    happens: async (world, { account, before, limit, server, types }) => {
      const { id } = pick(world.model.accounts, account)
      const asked = { account_id: id, before, limit, types }
      const { administration } = world.server(world.serverAt(server))
      const wanted = ({ position, type }: Entry) =>
        position < (before ?? Number.POSITIVE_INFINITY) && (types === undefined || types.includes(type))
      const entries = (await world.subject.entriesOf(id)).filter(wanted).slice(-limit).toReversed()
      assert.deepEqual(await world.run(administration.entriesBefore(asked)), entries)
      world.note("page")
    }
  }
)

export const bookingSteps = [
  { weight: 5, arbitrary: book },
  { weight: 3, arbitrary: bookAgain },
  { weight: 1, arbitrary: bookForAnother },
  { weight: 1, arbitrary: belowZero },
  { weight: 4, arbitrary: page }
]
