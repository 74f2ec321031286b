/** The simulator's settings and payments. Each step of a payment is committed with its effects in one transaction. */
import { randomBytes } from "node:crypto"
import { Clock, Effect, Queue, Schema } from "effect"
import { ConsoleDatabase, type ConsoleUnavailable, type Statements } from "../../persistence/index.ts"
import { newEventId, waitingEvents } from "./events.ts"
import { toIso, toReference } from "./payment-state.ts"
import { type Faults, makeRecords, noFaults, SimulatedCard, SimulatedPayment, SimulatorSettings } from "./records.ts"

/** The request is invalid for this payment; the message explains why. */
export class SimulatorRefused extends Schema.TaggedError<SimulatorRefused>()("SimulatorRefused", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}
export const reject = (problem: string) => new SimulatorRefused({ problem })

export type SimulatorEffect<A> = Effect.Effect<A, SimulatorRefused | ConsoleUnavailable>

export const paymentRecords = makeRecords("payment", SimulatedPayment)
export const cardRecords = makeRecords("card", SimulatedCard)
const settingsRecords = makeRecords("settings", SimulatorSettings)
const settingsId = "settings"

/** `due_at` is absent for an event that is due immediately. */
interface NewEvent {
  readonly type: string
  readonly due_at?: string
}

export interface PaymentStep<A> {
  /** The changed payment; absent if it does not change. */
  readonly payment?: SimulatedPayment
  readonly events?: ReadonlyArray<NewEvent>
  readonly saved?: SimulatedCard
  readonly result: A
}

export const outcomeEvent = ({ made_by, state }: SimulatedPayment): NewEvent => {
  const paid = made_by === "checkout" ? "checkout.session.completed" : "payment_intent.succeeded"
  return { type: state === "succeeded" ? paid : "payment_intent.payment_failed" }
}

const addEvents = Effect.fnUntraced(function* (
  tx: Statements,
  { account_id, payment_id }: SimulatedPayment,
  events: ReadonlyArray<NewEvent>
) {
  const now = yield* Clock.currentTimeMillis
  for (const { due_at = toIso(now), type } of events) {
    const event = { type, payment_id, account_id, made_at: toIso(now), due_at, attempts: 0, answer: null }
    yield* waitingEvents.add(tx, newEventId(now), event)
  }
})

const requireSettings = Effect.flatMap((found: SimulatorSettings | undefined) =>
  found === undefined ? Effect.die(new Error("The simulator's settings are missing")) : Effect.succeed(found)
)

export const openState = Effect.gen(function* () {
  const db = yield* ConsoleDatabase
  const wakeUps = yield* Queue.sliding<void>(1)
  const webhook_secret = randomBytes(24).toString("hex")
  yield* settingsRecords.add(db, settingsId, { ...noFaults, webhook_secret })

  const wakeUp = Queue.offer(wakeUps, undefined)

  /** Returns the earlier settings. */
  const setFaults = (faults: Partial<Faults>) =>
    db.transaction((tx) =>
      settingsRecords.lock(tx, settingsId).pipe(
        requireSettings,
        Effect.tap((before) => settingsRecords.replace(tx, settingsId, { ...before, ...faults }))
      )
    )

  const change = <A>(
    reference: string,
    decide: (payment: SimulatedPayment, now: string) => PaymentStep<A> | SimulatorRefused
  ): SimulatorEffect<A> =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const before = yield* paymentRecords.lock(tx, reference)
          if (before === undefined) return yield* reject("There is no such payment.")
          const step = decide(before, toIso(yield* Clock.currentTimeMillis))
          if (step instanceof SimulatorRefused) return yield* step
          const { events = [], payment, result, saved } = step
          if (payment !== undefined) yield* paymentRecords.replace(tx, reference, payment)
          if (saved !== undefined) yield* cardRecords.add(tx, saved.card.id, saved)
          yield* addEvents(tx, before, events)
          return result
        })
      )
      .pipe(Effect.tap(wakeUp))

  /** Returns the payment as first created, even if the new request differs: the same id is the same payment. */
  const addOnce = (newPayment: SimulatedPayment) =>
    db
      .transaction((tx) =>
        Effect.gen(function* () {
          const reference = toReference(newPayment.payment_id)
          const isNew = yield* paymentRecords.add(tx, reference, newPayment)
          if (isNew && newPayment.state !== "open") yield* addEvents(tx, newPayment, [outcomeEvent(newPayment)])
          return (yield* paymentRecords.find(tx, reference)) ?? newPayment
        })
      )
      .pipe(Effect.tap(wakeUp))

  const settings = requireSettings(settingsRecords.find(db, settingsId))
  return { db, wakeUps, settings, setFaults, change, addOnce }
})
export type SimulatorState = Effect.Success<typeof openState>
