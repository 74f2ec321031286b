import { visibleInLine } from "./terminal.ts"

/** The lines of a table whose columns are as wide as their longest cell. */
export const formatTable = (cells: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = cells.map((row) => row.map(visibleInLine))
  const widths: Array<number> = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}
