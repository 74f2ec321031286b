/**
 * Records of one kind in `console.simulated`. Updates are optimistic: an update applies only if the record is unchanged
 * since it was read, so two servers or two browser tabs never overwrite each other.
 */
import { Effect, Schema } from "effect"
import type { ConsoleUnavailable, Statements } from "../../persistence/console-database.ts"

const Row = Schema.Struct({ id: Schema.String, body: Schema.String })

export interface Found<A> {
  readonly id: string
  readonly value: A
  /** The stored text. */
  readonly body: string
}

export interface Records<A> {
  readonly find: (db: Statements, id: string) => Effect.Effect<Found<A> | undefined, ConsoleUnavailable>
  readonly all: (db: Statements) => Effect.Effect<ReadonlyArray<Found<A>>, ConsoleUnavailable>
  /** False if the id already exists. */
  readonly add: (db: Statements, id: string, value: A) => Effect.Effect<boolean, ConsoleUnavailable>
  /** False if the record has changed since it was read. A record of another kind becomes a record of this kind. */
  readonly change: (db: Statements, found: Found<unknown>, value: A) => Effect.Effect<boolean, ConsoleUnavailable>
  readonly remove: (db: Statements, found: Found<unknown>) => Effect.Effect<boolean, ConsoleUnavailable>
}

export const recordsOf = <A>(kind: string, schema: Schema.Codec<A, unknown>): Records<A> => {
  const json = Schema.fromJsonString(schema)
  const decode = Schema.decodeUnknownSync(json)
  const encode = Schema.encodeSync(json)
  const foundIn = ({ body, id }: typeof Row.Type): Found<A> => ({ id, body, value: decode(body) })
  return {
    find: (db, id) =>
      Effect.map(
        db.all(Row, "select id, body from console.simulated where id = $1 and kind = $2", [id, kind]),
        ([row]) => (row === undefined ? undefined : foundIn(row))
      ),
    all: (db) =>
      Effect.map(db.all(Row, "select id, body from console.simulated where kind = $1 order by id", [kind]), (rows) =>
        rows.map(foundIn)
      ),
    add: (db, id, value) =>
      Effect.map(
        db.run(
          "insert into console.simulated (id, kind, body) values ($1, $2, $3) on conflict (id) do nothing returning id",
          [id, kind, encode(value)]
        ),
        (rows) => rows === 1
      ),
    change: (db, { body, id }, value) =>
      Effect.map(
        db.run("update console.simulated set kind = $3, body = $4 where id = $1 and body = $2 returning id", [
          id,
          body,
          kind,
          encode(value)
        ]),
        (rows) => rows === 1
      ),
    remove: (db, { body, id }) =>
      Effect.map(
        db.run("delete from console.simulated where id = $1 and body = $2 returning id", [id, body]),
        (rows) => rows === 1
      )
  }
}
