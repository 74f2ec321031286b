/**
 * The simulator's state: its settings and its payments. Each step of a payment is committed with all its effects in one
 * transaction.
 */
import { randomBytes } from "node:crypto"
import { Clock, Effect, Queue, Schema } from "effect"
import { randomText } from "../../ledger/index.ts"
import { ConsoleDatabase, type ConsoleUnavailable, type Statements } from "../../persistence/index.ts"
import { newEventId, waiting } from "./events.ts"
import { referenceOf } from "./payment-state.ts"
import { type Faults, noFaults, recordsOf, SimulatedCard, SimulatedPayment, SimulatorSettings } from "./records.ts"

/** The request is invalid for this payment; the message says why. */
export class SimulatorRefuses extends Schema.TaggedError<SimulatorRefuses>()("SimulatorRefuses", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}
export const refuses = (problem: string) => new SimulatorRefuses({ problem })

export type Refusable<A> = Effect.Effect<A, SimulatorRefuses | ConsoleUnavailable>

export const payments = recordsOf("payment", SimulatedPayment)
export const cards = recordsOf("card", SimulatedCard)
const settingsRecord = recordsOf("settings", SimulatorSettings)
const settingsId = "settings"

export const iso = (milliseconds: number): string => new Date(milliseconds).toISOString()
export const newId = (prefix: string): string => `${prefix}_sim_${randomText(16)}`

/** The type of an event, and when it is due if not immediately. */
export interface Tell {
  readonly type: string
  readonly due_at?: string
}

/** The changes of a step, committed together, and its answer. */
export interface Step<A> {
  readonly payment?: SimulatedPayment
  readonly tell?: ReadonlyArray<Tell>
  readonly saved?: { readonly id: string; readonly value: SimulatedCard }
  readonly answer: A
}

/** The events of a decided payment. */
export const outcomesOf = ({ made_by, reversed, state }: SimulatedPayment): ReadonlyArray<Tell> => {
  const paid = made_by === "checkout" ? "checkout.session.completed" : "payment_intent.succeeded"
  return [
    { type: state === "succeeded" ? paid : "payment_intent.payment_failed" },
    ...reversed.map(() => ({ type: "charge.dispute.created" }))
  ]
}

const inserted = Effect.fnUntraced(function* (
  tx: Statements,
  { saved, tell = [] }: Step<unknown>,
  about: SimulatedPayment
) {
  const now = yield* Clock.currentTimeMillis
  if (saved !== undefined) yield* cards.add(tx, saved.id, saved.value)
  for (const { due_at = iso(now), type } of tell) {
    const { account_id, payment_id } = about
    const notice = { type, payment_id, account_id, made_at: iso(now), due_at, attempts: 0, answer: null }
    yield* waiting.add(tx, newEventId(now), notice)
  }
})

export const openState = Effect.gen(function* () {
  const db = yield* ConsoleDatabase
  /** Signals that there is an event to send. */
  const awake = yield* Queue.sliding<void>(1)
  const webhook_secret = randomBytes(24).toString("hex")
  yield* settingsRecord.add(db, settingsId, { ...noFaults, webhook_secret })

  const settings = Effect.flatMap(settingsRecord.find(db, settingsId), (found) =>
    found === undefined ? Effect.die(new Error("The simulator's settings are missing")) : Effect.succeed(found)
  )
  const setFaults = (faults: Partial<Faults>): Effect.Effect<void, ConsoleUnavailable> =>
    settings.pipe(
      Effect.flatMap((found) => settingsRecord.change(db, found, { ...found.value, ...faults })),
      Effect.flatMap((isDone) => (isDone ? Effect.void : setFaults(faults)))
    )

  /** One step of a payment, in one transaction. Decides again if another request changed the payment first. */
  const alter = <A>(
    reference: string,
    decide: (payment: SimulatedPayment, now: string) => Effect.Effect<Step<A>, SimulatorRefuses>
  ): Refusable<A> =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const found = yield* payments.find(tx, reference)
          if (found === undefined) return yield* refuses("There is no such payment.")
          const step = yield* decide(found.value, iso(yield* Clock.currentTimeMillis))
          const { payment = found.value } = step
          if (!(yield* payments.change(tx, found, payment))) return undefined
          yield* inserted(tx, step, payment)
          return { answer: step.answer }
        })
      )
      .pipe(
        Effect.tap(Queue.offer(awake, undefined)),
        Effect.flatMap((done) => (done === undefined ? alter(reference, decide) : Effect.succeed(done.answer)))
      )

  /** Returns the payment as first created, whatever the new request contains: the same id is the same payment. */
  const once = (made: SimulatedPayment): Effect.Effect<SimulatedPayment, ConsoleUnavailable> =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const reference = referenceOf(made.payment_id)
          const isNew = yield* payments.add(tx, reference, made)
          if (isNew && made.state !== "open") yield* inserted(tx, { tell: outcomesOf(made), answer: null }, made)
          return (yield* payments.find(tx, reference))?.value ?? made
        })
      )
      .pipe(Effect.tap(Queue.offer(awake, undefined)))

  /** Whether to lose the next answer; true only once. */
  const takeLostAnswer = Effect.flatMap(settings, (found) =>
    found.value.lose_next_answer
      ? settingsRecord.change(db, found, { ...found.value, lose_next_answer: false })
      : Effect.succeed(false)
  )

  return { db, awake, settings: Effect.map(settings, ({ value }) => value), setFaults, alter, once, takeLostAnswer }
})
export type SimulatorState = Effect.Success<typeof openState>
