/** Functions that run in a thread of the ledger's file: reads of the console, and the preparation of the thread. */
import type { SqlCell, Sqlite, SqliteRow } from "./sqlite.ts"

/** Loads what later calls need. */
export const loadModules = async (_: Sqlite, modules: ReadonlyArray<string>): Promise<void> => {
  for (const module of modules) await import(module)
}

export const readRows = (sqlite: Sqlite, sql: string, params: ReadonlyArray<SqlCell>): ReadonlyArray<SqliteRow> =>
  sqlite.all(sql, params)
