/** The simulator's settings and payments. Each step of a payment is committed with its effects in one transaction. */
import { randomBytes } from "node:crypto"
import { Clock, Effect, Queue, Schema } from "effect"
import { randomText } from "../../ledger/index.ts"
import { ConsoleDatabase, type ConsoleUnavailable, type Statements } from "../../persistence/index.ts"
import { newEventId, waitingEvents } from "./events.ts"
import { referenceOf, toIso } from "./payment-state.ts"
import { type Faults, makeRecords, noFaults, SimulatedCard, SimulatedPayment, SimulatorSettings } from "./records.ts"

/** The request is invalid for this payment; the message says why. */
export class SimulatorRefuses extends Schema.TaggedError<SimulatorRefuses>()("SimulatorRefuses", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}
export const reject = (problem: string) => new SimulatorRefuses({ problem })

export type Refusable<A> = Effect.Effect<A, SimulatorRefuses | ConsoleUnavailable>

export const paymentRecords = makeRecords("payment", SimulatedPayment)
export const cardRecords = makeRecords("card", SimulatedCard)
const settingsRecords = makeRecords("settings", SimulatorSettings)
const settingsId = "settings"

export const newSimulatedId = (prefix: string): string => `${prefix}_sim_${randomText(16)}`

/** `due_at` is absent for an event that is due immediately. */
interface NewEvent {
  readonly type: string
  readonly due_at?: string
}

export interface PaymentStep<A> {
  readonly payment?: SimulatedPayment
  readonly events?: ReadonlyArray<NewEvent>
  readonly saved?: { readonly id: string; readonly value: SimulatedCard }
  readonly answer: A
}

export const listOutcomeEvents = ({ made_by, reversed, state }: SimulatedPayment): ReadonlyArray<NewEvent> => {
  const paid = made_by === "checkout" ? "checkout.session.completed" : "payment_intent.succeeded"
  return [
    { type: state === "succeeded" ? paid : "payment_intent.payment_failed" },
    ...reversed.map(() => ({ type: "charge.dispute.created" }))
  ]
}

const insertEffects = Effect.fnUntraced(function* (
  tx: Statements,
  { events = [], saved }: PaymentStep<unknown>,
  { account_id, payment_id }: SimulatedPayment
) {
  const now = yield* Clock.currentTimeMillis
  if (saved !== undefined) yield* cardRecords.add(tx, saved.id, saved.value)
  for (const { due_at = toIso(now), type } of events) {
    const event = { type, payment_id, account_id, made_at: toIso(now), due_at, attempts: 0, answer: null }
    yield* waitingEvents.add(tx, newEventId(now), event)
  }
})

export const openState = Effect.gen(function* () {
  const db = yield* ConsoleDatabase
  const wakeUps = yield* Queue.sliding<void>(1)
  const webhook_secret = randomBytes(24).toString("hex")
  yield* settingsRecords.add(db, settingsId, { ...noFaults, webhook_secret })

  const findSettings = Effect.flatMap(settingsRecords.find(db, settingsId), (found) =>
    found === undefined ? Effect.die(new Error("The simulator's settings are missing")) : Effect.succeed(found)
  )
  const setFaults = (faults: Partial<Faults>): Effect.Effect<void, ConsoleUnavailable> =>
    findSettings.pipe(
      Effect.flatMap((found) => settingsRecords.change(db, found, { ...found.value, ...faults })),
      Effect.flatMap((isDone) => (isDone ? Effect.void : setFaults(faults)))
    )

  /** One step of a payment, in one transaction. Decides again if another request changed the payment first. */
  const change = <A>(
    reference: string,
    decide: (payment: SimulatedPayment, now: string) => PaymentStep<A> | SimulatorRefuses
  ): Refusable<A> =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const found = yield* paymentRecords.find(tx, reference)
          if (found === undefined) return yield* reject("There is no such payment.")
          const step = decide(found.value, toIso(yield* Clock.currentTimeMillis))
          if (step instanceof SimulatorRefuses) return yield* step
          const { payment = found.value } = step
          if (!(yield* paymentRecords.change(tx, found, payment))) return undefined
          yield* insertEffects(tx, step, payment)
          return { answer: step.answer }
        })
      )
      .pipe(
        Effect.tap(Queue.offer(wakeUps, undefined)),
        Effect.flatMap((done) => (done === undefined ? change(reference, decide) : Effect.succeed(done.answer)))
      )

  /** Returns the payment as first created, whatever the new request contains: the same id is the same payment. */
  const addOnce = (newPayment: SimulatedPayment): Effect.Effect<SimulatedPayment, ConsoleUnavailable> =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const reference = referenceOf(newPayment.payment_id)
          const isNew = yield* paymentRecords.add(tx, reference, newPayment)
          if (isNew && newPayment.state !== "open")
            yield* insertEffects(tx, { events: listOutcomeEvents(newPayment), answer: null }, newPayment)
          return (yield* paymentRecords.find(tx, reference))?.value ?? newPayment
        })
      )
      .pipe(Effect.tap(Queue.offer(wakeUps, undefined)))

  /** Whether to lose the next answer; true only once. */
  const takeLostAnswer = Effect.flatMap(findSettings, (found) =>
    found.value.lose_next_answer
      ? settingsRecords.change(db, found, { ...found.value, lose_next_answer: false })
      : Effect.succeed(false)
  )

  const settings = Effect.map(findSettings, ({ value }) => value)
  return { db, wakeUps, settings, setFaults, change, addOnce, takeLostAnswer }
})
export type SimulatorState = Effect.Success<typeof openState>
