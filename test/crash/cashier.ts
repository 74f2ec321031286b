/**
 * Money of the poor account, in and out, while calls are made and servers die. The ledger is told of each movement until it
 * says that it has it, and some are told again: each must be there once. More may go out than there is.
 */
import path from "node:path"
import { runningServer } from "@larder/serve/cli"
import { type Administration, administerPostgres, type Booking, connect, type Entry } from "@larder/serve/ledger"
import { Effect, Option, Redacted, type Scope } from "effect"
import type { Cast, Place } from "./cast.ts"
import type { Chance } from "./chance.ts"

/** Through the server that holds the ledger, or beside the servers that share it. */
const reach = ({ environment, home }: Place): Effect.Effect<Administration["Service"], unknown, Scope.Scope> => {
  const { LARDER_LEDGER_URL: url } = environment
  if (url !== undefined) return Effect.map(connect(Redacted.make(url)), administerPostgres)
  return Effect.flatMap(runningServer(path.join(home, "ledger")), (server) =>
    Option.isSome(server) ? Effect.succeed(server.value.administration) : Effect.fail("no server answers")
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

export const hireCashier = (place: Place, { poor }: Cast, { oneOf }: Chance) => {
  /** By reference: the ledger has said that it has it. */
  const booked = new Map<string, Booking>()
  /** Nobody knows whether the ledger has it. */
  let open: Booking | undefined
  let told = 0
  let isWorking = false
  let working: Promise<void> = Promise.resolve()

  const next = (): Booking => {
    const reference = `pay_${++told}`
    return { ...oneOf(movements), account_id: poor, reference, note: `money ${told}` }
  }
  const tell = (administration: Administration["Service"]) =>
    Effect.gen(function* () {
      open ??= next()
      yield* administration.book(open)
      booked.set(open.reference, open)
      open = undefined
    })
  const untilItIsGone = Effect.flatMap(reach(place), (administration) =>
    Effect.whileLoop({
      while: () => isWorking,
      body: () => Effect.andThen(tell(administration), Effect.sleep("5 millis")),
      step: () => {}
    })
  ).pipe(Effect.scoped, Effect.ignore)

  return {
    begin: () => {
      isWorking = true
      working = Effect.runPromise(untilItIsGone)
    },
    /** The server has gone, or goes on without. */
    end: () => {
      isWorking = false
      return working
    },
    wasTold: (reference: string) => booked.has(reference),
    /** Tells of what is open, and again of some that are not. Answers what the ledger should not have said. */
    again: (): Promise<ReadonlyArray<string>> =>
      Effect.gen(function* () {
        const administration = yield* reach(place)
        if (open !== undefined) yield* tell(administration)
        const before = [...booked.values()].slice(-10)
        const answers = yield* Effect.forEach(before, (booking) => administration.book(booking))
        return before.flatMap(({ reference }, index) =>
          answers[index]?.booked ? [`${reference} had been booked, and was booked again`] : []
        )
      }).pipe(Effect.scoped, Effect.runPromise),
    /** What is wrong with the bookings in the entries of all accounts. */
    problems: (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
      const found = entries.filter(({ key_id, request_id }) => key_id === null && request_id !== null)
      const missing = new Map(booked)
      const problems = found.flatMap((entry) => {
        const booking = missing.get(entry.request_id ?? "")
        missing.delete(entry.request_id ?? "")
        const isIt =
          booking?.type === entry.type && booking.credits === entry.credits && booking.account_id === entry.account_id
        return isIt ? [] : [`nobody has paid for ${JSON.stringify(entry)}, or it is there twice`]
      })
      return [...problems, ...[...missing.keys()].map((reference) => `${reference} was booked and is not there`)]
    },
    count: () => booked.size
  }
}

export type Cashier = ReturnType<typeof hireCashier>
