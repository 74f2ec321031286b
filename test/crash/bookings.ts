/**
 * Books payments, refunds and adjustments of the poor account while calls are made and servers are killed. Each booking is
 * repeated until the ledger confirms it, and some are repeated afterwards: the ledger must contain each once. Bookings may
 * make the balance negative.
 */
import path from "node:path"
import { findRunningServer } from "@larder/serve/cli/control/client.ts"
import { type Administration, administerPostgres, connect, type Entry } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { Effect, Option, Redacted, type Scope } from "effect"
import type { Actors, Setup } from "./actors.ts"
import type { Chance } from "./chance.ts"

/** Through the server that holds the ledger, or directly in the database that servers share. */
const openAdministration = ({
  environment,
  home
}: Setup): Effect.Effect<Administration["Service"], unknown, Scope.Scope> => {
  const { LARDER_LEDGER_URL: url } = environment
  if (url !== undefined) return Effect.map(connect(Redacted.make(url)), administerPostgres)
  return Effect.flatMap(findRunningServer(path.join(home, "ledger")), (server) =>
    Option.isSome(server) ? Effect.succeed(server.value.administration) : Effect.fail("no server responds")
  )
}

type Movement = Pick<Booking, "type" | "credits">
const movements: readonly [Movement, ...ReadonlyArray<Movement>] = [
  { type: "top_up", credits: 2_000 },
  { type: "auto_recharge", credits: 1_000 },
  { type: "refund", credits: -2_500 },
  { type: "adjustment", credits: -2_500 },
  { type: "adjustment", credits: 1_000 }
]

export const makeBookingActor = (setup: Setup, { poor }: Actors, { oneOf }: Chance) => {
  /** Confirmed bookings, by reference. */
  const booked = new Map<string, Booking>()
  /** It is unknown whether the ledger contains this booking. */
  let unconfirmed: Booking | undefined
  let count = 0
  let isBooking = false
  let work: Promise<void> = Promise.resolve()

  const makeBooking = (): Booking => {
    const reference = `pay_${++count}`
    return { ...oneOf(movements), account_id: poor, reference, note: `money ${count}` }
  }
  const book = (administration: Administration["Service"]) =>
    Effect.gen(function* () {
      unconfirmed ??= makeBooking()
      yield* administration.book(unconfirmed)
      booked.set(unconfirmed.reference, unconfirmed)
      unconfirmed = undefined
    })
  const bookUntilUnreachable = Effect.flatMap(openAdministration(setup), (administration) =>
    Effect.whileLoop({
      while: () => isBooking,
      body: () => Effect.andThen(book(administration), Effect.sleep("5 millis")),
      step: () => {}
    })
  ).pipe(Effect.scoped, Effect.ignore)

  return {
    begin: () => {
      isBooking = true
      work = Effect.runPromise(bookUntilUnreachable)
    },
    /** Called when the server was killed, or to stop booking. */
    end: () => {
      isBooking = false
      return work
    },
    isConfirmed: (reference: string) => booked.has(reference),
    /** Repeats the unconfirmed booking and some confirmed ones. Returns wrong outcomes. */
    repeat: (): Promise<ReadonlyArray<string>> =>
      Effect.gen(function* () {
        const administration = yield* openAdministration(setup)
        if (unconfirmed !== undefined) yield* book(administration)
        const confirmed = [...booked.values()].slice(-10)
        const results = yield* Effect.forEach(confirmed, (booking) => administration.book(booking))
        return confirmed.flatMap(({ reference }, index) =>
          results[index]?.booked ? [`${reference} had been booked, and was booked again`] : []
        )
      }).pipe(Effect.scoped, Effect.runPromise),
    /** Finds wrong, missing and duplicate bookings in the entries of all accounts. */
    findProblems: (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
      const found = entries.filter(({ key_id, request_id }) => key_id === null && request_id !== null)
      const missing = new Map(booked)
      const problems = found.flatMap((entry) => {
        const booking = missing.get(entry.request_id ?? "")
        missing.delete(entry.request_id ?? "")
        const isExpected =
          booking?.type === entry.type && booking.credits === entry.credits && booking.account_id === entry.account_id
        return isExpected ? [] : [`the booking ${JSON.stringify(entry)} is unknown or duplicate`]
      })
      return [...problems, ...[...missing.keys()].map((reference) => `${reference} was booked, and is missing`)]
    },
    count: () => booked.size
  }
}

export type BookingActor = ReturnType<typeof makeBookingActor>
