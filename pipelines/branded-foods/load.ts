/** What the two release forms have in common while they are loaded into the staging file. */
import { literal } from "@larder/warehouse/duckdb.ts"
import type { Effect } from "effect"

export interface Load {
  readonly run_id: string
  /** `gov-fdc/json` or `gov-fdc/csv`. */
  readonly feed: string
  readonly raw_sha256: string
  /** SHA-256 of the payload that holds a CSV file: of the zip, or of the file itself. */
  readonly rawOf: (member: string) => string
  /** Values of form, release_on, fetched_at, run_id and raw_sha256 of every row, as SQL. */
  readonly constants: string
  /** Tells how many rows of the payload were read. */
  readonly advance: (rows: number) => Effect.Effect<void>
}

/** What a form gave. Every row is in `ingest.reject`, silent, or stands behind a staged label. */
export interface Loaded {
  readonly rows_read: number
  readonly rows_silent: number
  /** Fields that upstream added. */
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
}

export const constantsOf = (of: {
  readonly form: "json" | "csv"
  readonly released_on: string | null
  readonly fetched_at: string
  readonly run_id: string
  readonly raw_sha256: string
}) => {
  const day = of.released_on === null ? "null" : `date ${literal(of.released_on)}`
  return [
    literal(of.form),
    day,
    `timestamp ${literal(of.fetched_at.replace(/Z$/, ""))}`,
    literal(of.run_id),
    literal(of.raw_sha256)
  ].join(", ")
}
