/**
 * Where the console keeps what is no movement of credits: people and their sessions, payments, cards, settings, and the
 * latest requests. One SQL serves both databases: the SQLite file of the ledger, or the PostgreSQL that several servers
 * share. So statements keep to what both understand: `$1` parameters, `cast(… as …)`, `on conflict`, `returning`, whole
 * numbers as `integer`, moments as ISO texts in UTC, which sort as they are.
 */
import { Context, Effect, Schema } from "effect"
import type { Cell } from "../persistence/sqlite.ts"
import type { Portion } from "./rows-as-text.ts"

/** The console's tables cannot be read or written now; nothing of the statement or transaction was kept. */
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
  /** All rows of a statement, decoded. Tables stand in the schema `console`. */
  readonly all: <S extends Schema.Constraint>(
    row: S,
    sql: string,
    params?: ReadonlyArray<Cell>
  ) => Effect.Effect<ReadonlyArray<S["Type"]>, ConsoleUnavailable, S["DecodingServices"]>
  /** Runs one statement; says how many rows it gives back (`returning`). Durable when it returns outside a transaction. */
  readonly run: (sql: string, params?: ReadonlyArray<Cell>) => Effect.Effect<number, ConsoleUnavailable>
}

type Ask = (sql: string, params: ReadonlyArray<Cell>) => Effect.Effect<ReadonlyArray<unknown>, ConsoleUnavailable>

export const statementsOf = (ask: Ask): Statements => ({
  all: (row, sql, params = []) =>
    ask(sql, params).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows)),
      Effect.catchTag("SchemaError", (error) => Effect.die(error)) // our SQL and our schema disagree: a bug
    ),
  run: (sql, params = []) => Effect.map(ask(sql, params), (rows) => rows.length)
})

export class ConsoleDatabase extends Context.Service<
  ConsoleDatabase,
  Statements & {
    /**
     * All statements of `work` together or none of them; durable when it returns. Others' transactions run before or
     * after it (SQLite), or beside it (PostgreSQL, read committed): what must hold beside them is one conditional update.
     * In SQLite `work` has to end in one turn of the event loop: it waits for nothing but the statements it is given.
     */
    readonly transaction: <A, E, R>(
      work: (statements: Statements) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | ConsoleUnavailable, R>
    /**
     * For what reads or changes more than some hundred rows: it blocks no other work. What it writes need not outlive a
     * crash, and changes some hundred rows a statement: in SQLite charged calls wait for each statement's end.
     */
    readonly background: Statements
    /**
     * Appends many rows in the background. `portionsOf` cuts them into portions of at most so many rows. In SQLite each
     * portion is a transaction, for which charged calls wait; in PostgreSQL one portion and one transaction has all rows.
     */
    readonly append: (portionsOf: (rows: number) => Iterable<Portion>) => Effect.Effect<void, ConsoleUnavailable>
  }
>()("larder/serve/ConsoleDatabase") {}
