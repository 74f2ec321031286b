/** What both release forms share while they are loaded into the staging file. */
import { literal } from "@larder/warehouse/duckdb.ts"
import type { Effect } from "effect"
import type { RawFile } from "../run/archive/fetch-list.ts"

export interface Load {
  readonly run_id: string
  /** `gov-fdc/json` or `gov-fdc/csv`. */
  readonly feed: string
  readonly raw_sha256: string
  /** The address of the payload, or of the first one if there are several. */
  readonly url: string
  /** The payload that holds a CSV file: the zip, or the file itself. */
  readonly payloadOf: (member: string) => Pick<RawFile, "sha256" | "url">
  /** The values of form, release_on, fetched_at, run_id and raw_sha256 for every row, as SQL. */
  readonly constants: string
  /** Whether a file may have fewer records than its release states. */
  readonly acceptShrinkage: boolean
  /** Reports how many rows of the payload were read. */
  readonly advance: (rows: number) => Effect.Effect<void>
}

/** The result of loading a form. Every row is in `ingest.reject`, is silent, or is part of a staged label. */
export interface Loaded {
  /** Rows by the address of the payload that held them. */
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

/** The rows of all payloads of a form. */
export const rowsReadOf = ({ rows_read }: Pick<Loaded, "rows_read">) =>
  [...rows_read.values()].reduce((sum, rows) => sum + rows, 0)
