/** Cells of another type than the mapping expects: a single one rejects its row, a whole column of them is drift. */
import { DriftFound, isStated, type PayloadRow, quoted } from "./field.ts"

export interface TypedField {
  readonly field: string
  readonly fits: (cell: unknown) => boolean
}

/** The first field whose cell states a value of another type. */
export const misfitIn = (typed: ReadonlyArray<TypedField>, row: PayloadRow): string | undefined =>
  typed.find(({ field, fits }) => isStated(row[field]) && !fits(row[field]))?.field

/** Throws `DriftFound` if every stated value of a column is of another type. */
export const assertTypes = (typed: ReadonlyArray<TypedField>, rows: ReadonlyArray<PayloadRow>) => {
  for (const { field, fits } of typed) {
    const stated = rows.filter((row) => isStated(row[field]))
    if (stated.length === 0 || stated.some((row) => fits(row[field]))) continue
    const example = quoted(stated[0]?.[field])
    throw new DriftFound({
      problem: `the column ${field} holds only values of another type, such as ${example}`,
      found: []
    })
  }
}
