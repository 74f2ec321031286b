/** Detects payloads that differ from what the catalog expects: their columns, and the types of their cells. */
import { Schema } from "effect"
import { isStated, type PayloadRow, quoteCell } from "../decode/payload.ts"

/** The payload is not what the mapping needs, or contradicts itself: upstream has probably changed. */
export class DriftFound extends Schema.TaggedError<DriftFound>()("DriftFound", {
  problem: Schema.String,
  found: Schema.Array(Schema.String)
}) {
  override get message() {
    const found = this.found.length === 0 ? "" : ` The payload has: ${this.found.join(", ")}.`
    return `The report has changed: ${this.problem}.${found}`
  }
}

/** `found`: the fields of the payload, if the message must name them. */
export const makeDrift = (problem: string, found: ReadonlyArray<string> = []) => new DriftFound({ problem, found })

export interface TypedField {
  readonly field: string
  readonly fits: (cell: unknown) => boolean
}

export const findMisfit = (typed: ReadonlyArray<TypedField>, row: PayloadRow): string | undefined =>
  typed.find(({ field, fits }) => isStated(row[field]) && !fits(row[field]))?.field

/** Throws `DriftFound` if every stated value of a column is of another type. */
export const assertTypes = (typed: ReadonlyArray<TypedField>, rows: ReadonlyArray<PayloadRow>) => {
  for (const { field, fits } of typed) {
    const stated = rows.filter((row) => isStated(row[field]))
    if (stated.length === 0 || stated.some((row) => fits(row[field]))) continue
    throw makeDrift(
      `the column ${field} contains only values of another type, such as ${quoteCell(stated[0]?.[field])}`
    )
  }
}
