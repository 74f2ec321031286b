/** Upstream spells one field in different ways, even within one payload: `close_price` in most rows, `close_Price` in some. */
import { isStated, normaliseKey, type PayloadRow } from "./payload.ts"

/** How many rows have each spelling of a field, by the field's normalised name. */
const countSpellings = (rows: ReadonlyArray<PayloadRow>) => {
  const counts = new Map<string, number>()
  for (const row of rows) for (const name of Object.keys(row)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Map.groupBy(counts, ([name]) => normaliseKey(name))
}

/**
 * Returns a function that spells the fields of a row as most rows do. Two spellings that both state something in one row
 * are two fields, such as `"Week Ending Date"` and `week_ending_date`, and stay as they are. So do names in `exact`.
 */
export const makeSpeller = (rows: ReadonlyArray<PayloadRow>, exact: ReadonlySet<string>) => {
  const renamed = new Map<string, string>()
  for (const spellings of countSpellings(rows).values()) {
    const names = spellings.map(([name]) => name)
    if (names.length < 2 || names.some((name) => exact.has(name))) continue
    const areTwoFields = rows.some((row) => names.filter((name) => isStated(row[name])).length > 1)
    if (areTwoFields) continue
    const [[usual] = [""]] = spellings.toSorted(([, a], [, b]) => b - a)
    for (const name of names) if (name !== usual) renamed.set(name, usual)
  }
  return (row: PayloadRow): PayloadRow => {
    if (renamed.size === 0 || !Object.keys(row).some((name) => renamed.has(name))) return row
    const cells: Record<string, unknown> = {}
    for (const [name, cell] of Object.entries(row)) {
      const usual = renamed.get(name) ?? name
      if (!isStated(cells[usual])) cells[usual] = cell
    }
    return cells
  }
}
