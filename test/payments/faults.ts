/**
 * Faults for processes that run `Billing`, and reversals of payments. Each round has the next fault of the processor, the
 * next reversal, and event faults of all kinds, so no kind depends on chance.
 */
import { Effect, Schema } from "effect"
import type { Chance } from "../crash/chance.ts"
import type { ProcessorHarness } from "./processor-harness.ts"
import type { Setup, StripeSetup } from "./setup.ts"

/**
 * Nine faults: nine has no common divisor with the five reversals or the fourteen stages of a kill. A slow processor costs
 * ten seconds, so it occurs once.
 */
const processorFaults = [
  "lost response",
  "outage",
  "lost response",
  "slow",
  "lost response",
  "outage",
  "lost response",
  "outage",
  "lost response"
] as const
type ProcessorFault = (typeof processorFaults)[number]
/** Milliseconds from the start of a run. */
export const faultDurations: Readonly<Record<ProcessorFault, number>> = { "lost response": 0, outage: 1_000, slow: 300 }

const reversalKinds = ["refund", "failed refund", "dispute", "won", "lost"] as const
const eventFaults = ["forged", "repeated", "out of order"] as const

export type Fault = ProcessorFault | (typeof reversalKinds)[number] | (typeof eventFaults)[number]
export const allFaults: ReadonlySet<Fault> = new Set([...processorFaults, ...reversalKinds, ...eventFaults])

export interface SentEvent {
  readonly body: string
  readonly signature: string | null
  /** `out of order`: older than an event that was sent before it. */
  readonly fault: (typeof eventFaults)[number] | null
}

/**
 * A line that a process prints: the outcome of a request to the processor; `clock advanced` when it has advanced its
 * clock by `maxRequestMs`; or the fault of an event that it handled correctly.
 */
export type ProgressLine = "requested" | "responded" | "failed" | "clock advanced" | (typeof eventFaults)[number]

/** The faults that occurred to a process, according to the lines that it printed. */
export const listFaults = (fault: ProcessorFault, lines: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const count = (wanted: ProgressLine) => lines.filter((line) => line === wanted).length
  // a process that is killed while it waits for a slow response prints nothing more
  const hasOccurred = fault === "slow" ? count("requested") > count("responded") : count("failed") > 0
  return [...eventFaults.filter((kind) => count(kind) > 0), ...(hasOccurred ? [fault] : [])]
}

const ListedPayment = Schema.Struct({ id: Schema.String, state: Schema.String, card: Schema.NullOr(Schema.String) })
export type ListedPayment = typeof ListedPayment.Type
export const listPayments = ({ database }: Setup) =>
  database.all(ListedPayment, "select id, state, card from console.payment order by created_at, id")

/** Ignores a step that is not possible now. */
export const ignoreFailure = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.catchCause(work, () => Effect.succeed(undefined))

const makeEvents = ({ harness }: Setup, id: string) =>
  Effect.map(ignoreFailure(harness.event(id)), (event): ReadonlyArray<SentEvent> => {
    if (event === undefined) return []
    return [{ body: event.body, signature: event.header("stripe-signature"), fault: null }]
  })

export const endFaults = ({ outage, slow }: ProcessorHarness) => Effect.andThen(outage(false), slow(false))

/** Makes the faults for the processes of a history, beginning at a random position of each list. */
export const makeFaults = (chance: Chance) => {
  /** Undecided disputes by payment. */
  const disputes = new Map<string, string>()
  /** Payments with a lost dispute. */
  const lost = new Set<string>()
  let nextFault = chance.between(0, processorFaults.length - 1)
  let nextReversal = chance.between(0, reversalKinds.length - 1)

  const reverse = Effect.fnUntraced(function* (
    { harness }: StripeSetup,
    kind: (typeof reversalKinds)[number],
    payment_id: string
  ) {
    if (kind === "refund" || kind === "failed refund") {
      const refund = yield* harness.refund(payment_id, chance.between(1, 5_00))
      if (kind === "failed refund") yield* harness.failRefund(payment_id, refund)
      return
    }
    const dispute = disputes.get(payment_id) ?? (yield* harness.dispute(payment_id))
    disputes.set(payment_id, dispute)
    if (kind === "dispute") return
    yield* harness.closeDispute(dispute, kind)
    disputes.delete(payment_id)
    if (kind === "lost") lost.add(payment_id)
  })

  /** Reverses the first payment for which it is possible. Returns its events before and after. */
  const reverseAny = Effect.fnUntraced(function* (
    setup: StripeSetup,
    kind: (typeof reversalKinds)[number],
    paid: ReadonlyArray<string>
  ) {
    const isDisputeOutcome = kind === "won" || kind === "lost"
    const start = chance.between(0, paid.length)
    const rotated = [...paid.slice(start), ...paid.slice(0, start)]
    const others = rotated.filter((id) => !disputes.has(id) && !lost.has(id))
    for (const id of isDisputeOutcome ? [...disputes.keys(), ...others] : others) {
      const early = yield* makeEvents(setup, id)
      if ((yield* ignoreFailure(Effect.as(reverse(setup, kind, id), true))) === undefined) continue
      const late = yield* makeEvents(setup, id)
      return { late, early: early.map((event): SentEvent => ({ ...event, fault: "out of order" })) }
    }
    return yield* Effect.die(new Error(`no payment is left for this reversal: ${kind}`))
  })

  /** Before a process starts: customers pay on open pages, a payment is reversed, and the processor gets a fault. */
  return Effect.fnUntraced(function* (setup: StripeSetup) {
    const { harness } = setup
    const fault = processorFaults[nextFault++ % processorFaults.length] ?? "outage"
    const reversal = reversalKinds[nextReversal++ % reversalKinds.length] ?? "refund"
    yield* endFaults(harness) // a killed process did not end its fault
    const rows = yield* listPayments(setup)
    const events: Array<SentEvent> = []
    for (const { card, id, state } of rows) {
      if (state !== "open" || card !== null || chance.between(0, 2) === 0) continue
      yield* ignoreFailure(harness.pay(id, chance.oneOf(["good", "mastercard", "declined"])))
      events.push(...(yield* makeEvents(setup, id)))
    }
    const paid = rows.filter(({ state }) => state === "succeeded").map(({ id }) => id)
    const { early, late } = yield* reverseAny(setup, reversal, paid)
    const sent = [...late, ...events].flatMap(
      (event): ReadonlyArray<SentEvent> => [
        { ...event, body: `${event.body} `, fault: "forged" },
        event,
        { ...event, fault: "repeated" }
      ]
    )
    if (fault === "lost response") yield* harness.loseNextResponse
    if (fault === "outage") yield* harness.outage(true)
    if (fault === "slow") yield* harness.slow(true)
    return { events: [...sent, ...early], reversal, fault }
  })
}
