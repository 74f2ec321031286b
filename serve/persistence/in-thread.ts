/** What the thread of the ledger's file does for the console. */
import { betweenCells, betweenRows, type Portion } from "./rows-as-text.ts"
import type { SqlCell, Sqlite, SqliteRow } from "./sqlite.ts"

export const readRows = (sqlite: Sqlite, sql: string, params: ReadonlyArray<SqlCell>): ReadonlyArray<SqliteRow> =>
  sqlite.all(sql, params)

/** One transaction, short because everything is prepared before it begins. Column types convert texts to numbers. */
export const insertPortion = (sqlite: Sqlite, portion: Portion): void => {
  const inserts = portion.map(({ columns, onConflict = "", rows, table }) => {
    const names = Object.keys(columns)
    const statement = sqlite.prepare(
      `insert into ${table} as kept (${names.join(", ")}) values (${names.map(() => "?").join(", ")}) ${onConflict}`
    )
    return { statement, rows: rows.split(betweenRows).map((row) => row.split(betweenCells)) }
  })
  sqlite.transaction(() => {
    for (const { rows, statement } of inserts) for (const row of rows) statement.run(...row)
  })
}
