/** What the simulator stores, as JSON in `console.simulated`. */
import { Effect, Schema } from "effect"
import type { Statements } from "../../persistence/index.ts"
import { Card } from "../processor.ts"

const SimulatedRefund = Schema.Struct({
  id: Schema.String,
  cents: Schema.Int,
  /** The refund counts as failed from this time on. */
  fails_at: Schema.NullOr(Schema.String)
})

export const SimulatedPayment = Schema.Struct({
  payment_id: Schema.String,
  account_id: Schema.String,
  cents: Schema.Int,
  made_by: Schema.Literals(["checkout", "charge"]),
  made_at: Schema.String,
  state: Schema.Literals(["open", "succeeded", "failed"]),
  problem: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  customer: Schema.NullOr(Schema.String),
  card: Schema.NullOr(Card),
  /** Name of the test card that was used. */
  plays: Schema.NullOr(Schema.String),
  /** The entered card, until the cardholder has authenticated the payment with the bank. */
  asked_owner: Schema.NullOr(Schema.Struct({ plays: Schema.String, expires: Schema.String })),
  success_url: Schema.NullOr(Schema.String),
  cancel_url: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  refunds: Schema.Array(SimulatedRefund)
})
export type SimulatedPayment = typeof SimulatedPayment.Type

export const SimulatedCard = Schema.Struct({ customer: Schema.String, card: Card, plays: Schema.String })
export type SimulatedCard = typeof SimulatedCard.Type

export const SimulatedEvent = Schema.Struct({
  type: Schema.String,
  payment_id: Schema.String,
  account_id: Schema.String,
  made_at: Schema.String,
  due_at: Schema.String,
  attempts: Schema.Int,
  /** Status of the latest response, or why there was none; null before the first attempt. */
  answer: Schema.NullOr(Schema.String)
})
export type SimulatedEvent = typeof SimulatedEvent.Type

export const Faults = Schema.Struct({
  /** Every request fails. */
  outage: Schema.Boolean,
  /** Delay of every response. */
  slow_ms: Schema.Int,
  /** The next payment is made, but the response is lost. */
  lose_next_answer: Schema.Boolean
})
export type Faults = typeof Faults.Type

export const SimulatorSettings = Schema.Struct({ ...Faults.fields, webhook_secret: Schema.String })
export type SimulatorSettings = typeof SimulatorSettings.Type

export const noFaults: Faults = { outage: false, slow_ms: 0, lose_next_answer: false }

/** Records of one kind. A transaction locks a record before it decides how to change it. */
export const makeRecords = <A>(kind: string, schema: Schema.Codec<A, unknown>) => {
  const json = Schema.fromJsonString(schema)
  const encode = Schema.encodeSync(json)
  const Row = Schema.Struct({ id: Schema.String, value: json })
  const getRow = <E>(rows: Effect.Effect<ReadonlyArray<typeof Row.Type>, E>) => Effect.map(rows, ([row]) => row?.value)
  return {
    all: (db: Statements) =>
      db.all(Row, "select id, body as value from console.simulated where kind = $1 order by id", [kind]),
    find: (db: Statements, id: string) =>
      getRow(db.all(Row, "select id, body as value from console.simulated where id = $1 and kind = $2", [id, kind])),
    /** Finds the record. Other transactions that change it wait until this one ends. */
    lock: (db: Statements, id: string) =>
      getRow(
        db.all(
          Row,
          "update console.simulated set body = body where id = $1 and kind = $2 returning id, body as value",
          [id, kind]
        )
      ),
    /** Returns false if the id already exists. */
    add: (db: Statements, id: string, value: A) =>
      Effect.map(
        db.run(
          "insert into console.simulated (id, kind, body) values ($1, $2, $3) on conflict (id) do nothing returning id",
          [id, kind, encode(value)]
        ),
        (rows) => rows === 1
      ),
    /** Does nothing if the record is no longer of this kind. */
    replace: (db: Statements, id: string, value: A, newKind = kind) =>
      db.run("update console.simulated set kind = $3, body = $4 where id = $1 and kind = $2", [
        id,
        kind,
        newKind,
        encode(value)
      ]),
    remove: (db: Statements, id: string) =>
      db.run("delete from console.simulated where id = $1 and kind = $2", [id, kind])
  }
}
