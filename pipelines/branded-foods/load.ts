/** What the two release forms have in common while they are loaded into the staging file. */
import { literal } from "@larder/warehouse/duckdb.ts"
import type { Effect } from "effect"
import type { RawFile } from "../run/raw-file.ts"

export interface Load {
  readonly run_id: string
  /** `gov-fdc/json` or `gov-fdc/csv`. */
  readonly feed: string
  readonly raw_sha256: string
  /** Of the payload, or of the first of several. */
  readonly url: string
  /** The payload that holds a CSV file: the zip, or the file itself. */
  readonly payloadOf: (member: string) => Pick<RawFile, "sha256" | "url">
  /** Values of form, release_on, fetched_at, run_id and raw_sha256 of every row, as SQL. */
  readonly constants: string
  /** Whether a file may have fewer records than its release states. */
  readonly acceptShrinkage: boolean
  /** Tells how many rows of the payload were read. */
  readonly advance: (rows: number) => Effect.Effect<void>
}

/** What a form gave. Every row is in `ingest.reject`, silent, or stands behind a staged label. */
export interface Loaded {
  /** By the address of the payload that held them. */
  readonly rows_read: ReadonlyMap<string, number>
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

/** Of all payloads of a form. */
export const rowsReadOf = ({ rows_read }: Pick<Loaded, "rows_read">) =>
  [...rows_read.values()].reduce((sum, rows) => sum + rows, 0)
