/** Rows of `console.simulated`, as JSON. An update applies only if the record is unchanged since it was read. */
import { Effect, Schema } from "effect"
import type { Statements } from "../../persistence/index.ts"
import { Card } from "../processor.ts"

export const SimulatedReversal = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["refund", "dispute"]),
  cents: Schema.Int,
  /** A dispute is `open` until it is `won` or `lost`. */
  outcome: Schema.Literals(["open", "refunded", "won", "lost"]),
  /** The refund counts as failed from this time on. */
  fails_at: Schema.NullOr(Schema.String),
  made_at: Schema.String
})
export type SimulatedReversal = typeof SimulatedReversal.Type

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
  /** The card whose bank waits until the cardholder authenticates the payment. */
  asked_owner: Schema.NullOr(Schema.Struct({ plays: Schema.String, expires: Schema.String })),
  success_url: Schema.NullOr(Schema.String),
  cancel_url: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  reversed: Schema.Array(SimulatedReversal)
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
  answer: Schema.NullOr(Schema.String)
})
export type SimulatedEvent = typeof SimulatedEvent.Type

export const Faults = Schema.Struct({
  /** No request is answered. */
  outage: Schema.Boolean,
  /** Delay of every answer. */
  slow_ms: Schema.Int,
  /** The next payment is made, but its answer is lost. */
  lose_next_answer: Schema.Boolean,
  events: Schema.Literals(["once", "twice", "reversed", "forged", "none"])
})
export type Faults = typeof Faults.Type

export const SimulatorSettings = Schema.Struct({ ...Faults.fields, webhook_secret: Schema.String })
export type SimulatorSettings = typeof SimulatorSettings.Type

export const noFaults: Faults = { outage: false, slow_ms: 0, lose_next_answer: false, events: "once" }

const Row = Schema.Struct({ id: Schema.String, body: Schema.String })

export interface Found<A> {
  readonly id: string
  readonly value: A
  readonly body: string
}

export const makeRecords = <A>(kind: string, schema: Schema.Codec<A, unknown>) => {
  const json = Schema.fromJsonString(schema)
  const decode = Schema.decodeUnknownSync(json)
  const encode = Schema.encodeSync(json)
  const decodeRow = ({ body, id }: typeof Row.Type): Found<A> => ({ id, body, value: decode(body) })
  const change = (db: Statements, sql: string, params: ReadonlyArray<string>) =>
    Effect.map(db.run(`${sql} returning id`, params), (rows) => rows === 1)
  return {
    find: (db: Statements, id: string) =>
      Effect.map(
        db.all(Row, "select id, body from console.simulated where id = $1 and kind = $2", [id, kind]),
        ([row]) => row && decodeRow(row)
      ),
    all: (db: Statements) =>
      Effect.map(db.all(Row, "select id, body from console.simulated where kind = $1 order by id", [kind]), (rows) =>
        rows.map(decodeRow)
      ),
    /** False if the id already exists. */
    add: (db: Statements, id: string, value: A) =>
      change(db, "insert into console.simulated (id, kind, body) values ($1, $2, $3) on conflict (id) do nothing", [
        id,
        kind,
        encode(value)
      ]),
    /** False if the record has changed since it was read. A record of another kind becomes a record of this kind. */
    change: (db: Statements, { body, id }: Found<unknown>, value: A) =>
      change(db, "update console.simulated set kind = $3, body = $4 where id = $1 and body = $2", [
        id,
        body,
        kind,
        encode(value)
      ]),
    remove: (db: Statements, { body, id }: Found<unknown>) =>
      change(db, "delete from console.simulated where id = $1 and body = $2", [id, body])
  }
}
