/** The input and the result of loading a release form, CSV or JSON, and the SQL that inserts its labels. */
import { literal } from "@larder/warehouse"
import type { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import type { ReleaseForm } from "../source/fetch-release.ts"

export interface LoadInput {
  readonly run_id: string
  readonly form: ReleaseForm
  /** `gov-fdc/json` or `gov-fdc/csv`. */
  readonly feed: string
  readonly released_on: string | null
  readonly fetched_at: string
  readonly raw_sha256: string
  /** The address of the payload, or of the first if there are several. */
  readonly url: string
  /** The payload that a CSV file came from: its zip, or the file itself. */
  readonly payloadContaining: (member: string) => Pick<FetchedPayload, "sha256" | "url">
  /** A file with fewer records than its release declares is loaded anyway. */
  readonly acceptShrinkage: boolean
  /** Adds loaded rows to the progress display. */
  readonly reportProgress: (rows: number) => Effect.Effect<void>
}

/** Every row is rejected (in `ingest.reject`), ignored (not a branded food), or loaded as part of a label. */
export interface LoadResult {
  /** Rows by the address of their payload. */
  readonly rows_read: ReadonlyMap<string, number>
  /** Rows of other kinds of food. */
  readonly rows_ignored: number
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
}

/** Maximum characters of a row in `ingest.reject`; the raw archive has the complete row. */
export const maxPayloadLength = 100_000

/** Inserts the valid labels, those whose `problem` is null. `labels` is a query of `normaliseLabels`. */
export const insertLabelsSql = ({ fetched_at, form, raw_sha256, released_on, run_id }: LoadInput, labels: string) => `
  insert into branded_food.food by name
  select
    * exclude (line, problem, odd),
    ${literal(form)} as form,
    ${released_on === null ? "null" : `date ${literal(released_on)}`} as release_on,
    timestamp ${literal(fetched_at.replace(/Z$/, ""))} as fetched_at,
    ${literal(run_id)} as run_id,
    ${literal(raw_sha256)} as raw_sha256
  from (${labels}) where problem is null`
