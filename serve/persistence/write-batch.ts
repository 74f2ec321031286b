/** Writes encoded rows into SQLite. */
import { cellSeparator, rowSeparator, type WriteBatch } from "./encoded-rows.ts"
import type { Sqlite } from "./sqlite.ts"

const nullIfEmpty = (cell: string) => (cell === "" ? null : cell)

/** One transaction, short because everything is prepared before it begins. Column types convert strings to numbers. */
export const insertWriteBatch = (sqlite: Sqlite, batch: WriteBatch): void => {
  const inserts = batch.map(({ columns, onConflict = "", table, text }) => {
    const names = Object.keys(columns)
    const statement = sqlite.prepare(
      `insert into ${table} as kept (${names.join(", ")}) values (${names.map(() => "?").join(", ")}) ${onConflict}`
    )
    return { statement, rows: text.split(rowSeparator).map((row) => row.split(cellSeparator).map(nullIfEmpty)) }
  })
  sqlite.transaction(() => {
    for (const { rows, statement } of inserts) for (const row of rows) statement.run(...row)
  })
}
