/** Lines of `fetches/<run_id>.ndjson`: what a run fetched and was refused, in the order in which the answers came, and how it ended. */
import { type Effect, Schema } from "effect"
import { Refused } from "./refused.ts"

export const Fetch = Schema.Struct({
  run_id: Schema.String,
  pipeline: Schema.String,
  /** Days that the run was limited to; null if it was not. */
  days: Schema.NullOr(Schema.Struct({ from: Schema.String, to: Schema.String })),
  origin: Schema.Literals(["live", "replay", "sample"]),
  url: Schema.String,
  /** The address that answered in the end, without its query where a redirect led there. */
  final_url: Schema.String,
  /** 304: the source said that the payload is the one an earlier run fetched, which is what the rest of the line tells of. */
  status: Schema.Int,
  content_type: Schema.NullOr(Schema.String),
  etag: Schema.NullOr(Schema.String),
  last_modified: Schema.NullOr(Schema.String),
  /** False where a recording without a query stood in for an address that has one. */
  exact: Schema.Boolean,
  /** What the answer told besides, where it was asked to. */
  told: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** When the answer began, UTC, in milliseconds. */
  fetched_at: Schema.String,
  /** Of a 304: when the payload came. */
  received_at: Schema.optionalKey(Schema.String),
  sha256: Schema.String,
  bytes: Schema.Int,
  /** Where it lies while it is loose, below the archive, with `/`. */
  file: Schema.String,
  /** The run that fetched it, where that one was interrupted, and this one took it over. */
  taken_from: Schema.optionalKey(Schema.String)
})
export type Fetch = typeof Fetch.Type

/** Whether the run took what had lost much, with `--accept-shrinkage`. */
const shrinkage_accepted = Schema.optionalKey(Schema.Boolean)

/** The last line of a run that published. */
export const Published = Schema.Struct({ run_id: Schema.String, published: Schema.String, shrinkage_accepted })

/** The last line of a run that published nothing, and how it went. One that was killed or interrupted has no such line. */
export const Ended = Schema.Struct({ run_id: Schema.String, ended: Schema.String, shrinkage_accepted })

/** Whether a line ends a run that read its source. One that brought no new row has reads, too, which later ones build on. */
export const hasRead = (
  line: Effect.Success<ReturnType<typeof decodeLine>>
): line is typeof Published.Type | typeof Ended.Type =>
  "published" in line || ("ended" in line && ["unchanged", "partial"].includes(line.ended))

export type Line = typeof Fetch.Encoded | typeof Refused.Encoded | typeof Published.Encoded | typeof Ended.Encoded

export const decodeLine = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Fetch, Refused, Published, Ended]))
)

export const hasPayload = (line: Effect.Success<ReturnType<typeof decodeLine>>): line is Fetch => "sha256" in line
