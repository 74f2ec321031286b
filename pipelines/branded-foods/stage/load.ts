/** What both release forms share while they are loaded into the staging file. */
import { literal } from "@larder/warehouse"
import type { Effect } from "effect"
import type { RawFile } from "../../run/archive/fetch-list.ts"
import { foodColumns } from "../normalise/label.ts"
import type { Form } from "../source/fetch-release.ts"

export interface Load {
  readonly run_id: string
  readonly form: Form
  /** `gov-fdc/json` or `gov-fdc/csv`. */
  readonly feed: string
  readonly released_on: string | null
  readonly fetched_at: string
  readonly raw_sha256: string
  /** The address of the payload, or of the first one if there are several. */
  readonly url: string
  /** The payload that holds a CSV file: the zip, or the file itself. */
  readonly payloadOf: (member: string) => Pick<RawFile, "sha256" | "url">
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

/** Characters of a row in `ingest.reject`. A longer row is truncated there; the raw archive keeps it whole. */
export const maxPayload = 100_000

/** Inserts the labels that have no problem. `labels` is a query of `labelsFrom`. */
export const insertLabels = ({ fetched_at, form, raw_sha256, released_on, run_id }: Load, labels: string) => {
  const columns = foodColumns.join(", ")
  const constants = [
    literal(form),
    released_on === null ? "null" : `date ${literal(released_on)}`,
    `timestamp ${literal(fetched_at.replace(/Z$/, ""))}`,
    literal(run_id),
    literal(raw_sha256)
  ]
  return `
    insert into branded_food.food (${columns}, form, release_on, fetched_at, run_id, raw_sha256)
    select ${columns}, ${constants.join(", ")} from (${labels}) where problem is null`
}
