/** Functions that run in a thread of the ledger's file: statements of the console, and the preparation of the thread. */
import { cellSeparator, rowSeparator, type WriteBatch } from "./encoded-rows.ts"
import type { SqlCell, Sqlite, SqliteRow } from "./sqlite.ts"

/** Loads what later calls need. */
export const loadModules = async (_: Sqlite, modules: ReadonlyArray<string>): Promise<void> => {
  for (const module of modules) await import(module)
}

export const readRows = (sqlite: Sqlite, sql: string, params: ReadonlyArray<SqlCell>): ReadonlyArray<SqliteRow> =>
  sqlite.all(sql, params)

/** One transaction, short because everything is prepared before it begins. Column types convert strings to numbers. */
export const insertWriteBatch = (sqlite: Sqlite, batch: WriteBatch): void => {
  const inserts = batch.map(({ columns, onConflict = "", table, text }) => {
    const names = Object.keys(columns)
    const statement = sqlite.prepare(
      `insert into ${table} as kept (${names.join(", ")}) values (${names.map(() => "?").join(", ")}) ${onConflict}`
    )
    return { statement, rows: text.split(rowSeparator).map((row) => row.split(cellSeparator)) }
  })
  sqlite.transaction(() => {
    for (const { rows, statement } of inserts) for (const row of rows) statement.run(...row)
  })
}
