/**
 * The console's storage for everything except accounts, keys and movements of credits: people and their sessions, payments, cards,
 * settings, and the latest requests. The same SQL runs on the SQLite file of the ledger and on PostgreSQL, so statements
 * use only what both support: `$1` parameters, `cast(… as …)`, `on conflict`, `returning`, integers as `integer`, and
 * times as ISO strings in UTC, which sort chronologically.
 */
import { Context, Effect, Schema } from "effect"
import type { WriteBatch } from "./encoded-rows.ts"
import type { SqlCell } from "./sqlite.ts"

/** The statement or transaction was rolled back, unless PostgreSQL committed it and only its response was lost. */
export class ConsoleUnavailable extends Schema.TaggedError<ConsoleUnavailable>()("ConsoleUnavailable", {
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The console's tables cannot be used: ${cause}`
  }
}
export const consoleUnavailable = (cause: unknown) => new ConsoleUnavailable({ cause })

export interface Statements {
  /** All rows of a statement, decoded. Tables are in the schema `console`. */
  readonly all: <S extends Schema.Constraint>(
    row: S,
    sql: string,
    params?: ReadonlyArray<SqlCell>
  ) => Effect.Effect<ReadonlyArray<S["Type"]>, ConsoleUnavailable, S["DecodingServices"]>
  /** Returns the number of rows in the statement's result (`returning`). Outside a transaction, durable on return. */
  readonly run: (sql: string, params?: ReadonlyArray<SqlCell>) => Effect.Effect<number, ConsoleUnavailable>
}

type RunStatement = (
  sql: string,
  params: ReadonlyArray<SqlCell>
) => Effect.Effect<ReadonlyArray<unknown>, ConsoleUnavailable>

export const makeStatements = (runStatement: RunStatement): Statements => ({
  all: (row, sql, params = []) =>
    runStatement(sql, params).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows)),
      Effect.catchTag("SchemaError", (error) => Effect.die(error)) // our SQL and our schema disagree: a bug
    ),
  run: (sql, params = []) => Effect.map(runStatement(sql, params), (rows) => rows.length)
})

export class ConsoleDatabase extends Context.Service<
  ConsoleDatabase,
  Statements & {
    /**
     * Runs `work` as one transaction; durable on return. In PostgreSQL, other transactions run concurrently (read
     * committed): a condition that must still hold at the commit needs one conditional update. In SQLite, `work` must
     * run synchronously: it may wait only for the statements that it is given.
     */
    readonly transaction: <A, E, R>(
      work: (statements: Statements) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | ConsoleUnavailable, R>
    /**
     * For statements that read many rows; they do not block other work. In SQLite, everything waits for a statement that
     * writes, so it should change at most a few hundred rows.
     */
    readonly background: Statements
    /**
     * Appends many rows in the background. `splitRows` returns batches of at most the given number of rows: in SQLite
     * each is a transaction, which everything waits for; in PostgreSQL one transaction contains all rows.
     */
    readonly append: (splitRows: (maxRows: number) => Iterable<WriteBatch>) => Effect.Effect<void, ConsoleUnavailable>
  }
>()("larder/serve/ConsoleDatabase") {}
