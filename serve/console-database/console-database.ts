/**
 * Where the console keeps what is no movement of credits: people and their sessions, payments, cards, settings, and the
 * latest requests. One SQL serves both databases: an embedded one beside the ledger, or the PostgreSQL that several
 * servers share. So statements keep to what both understand: `$1` parameters, `on conflict`, `returning`, whole numbers
 * as `integer`, moments as ISO texts in UTC, which sort as they are.
 */
import { Context, type Effect, Schema } from "effect"
import type { SumTable } from "./sums.ts"
import type { TableCount } from "./tables.ts"

export type Cell = string | number | boolean | null

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

export class ConsoleDatabase extends Context.Service<
  ConsoleDatabase,
  Statements & {
    /**
     * All statements of `work` together or none of them; durable when it returns. Others' transactions run before or
     * after it (embedded), or beside it (PostgreSQL, read committed): what must hold beside them is one conditional update.
     */
    readonly transaction: <A, E, R>(
      work: (statements: Statements) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | ConsoleUnavailable, R>
    /** What whoever counts calls in `usage_of_status` adds them to as well: nothing in PostgreSQL, where triggers do it. */
    readonly sums: ReadonlyArray<SumTable>
    /**
     * Writes what a backup holds, as it is at one moment, into a DuckDB file that is not there yet and is not named
     * `console`. Says how many rows each table has.
     */
    readonly copyTo: (file: string) => Effect.Effect<ReadonlyArray<TableCount>, ConsoleUnavailable>
  }
>()("larder/serve/ConsoleDatabase") {}
