/** Lines of `fetches/<run_id>.ndjson`: the fetches and refusals of a run, in order, and its end. Errors of the archive. */
import { isDiskFull } from "@larder/warehouse"
import { Effect, FileSystem, Option, type PlatformError, Schema } from "effect"
import { reasonOf } from "../files/causes.ts"
import { describeKind } from "../files/file-kind.ts"
import type { FileUnwritable } from "../files/write-all.ts"
import { RefusedRequest } from "../origins/origin.ts"

export const Fetch = Schema.Struct({
  run_id: Schema.String,
  pipeline: Schema.String,
  days: Schema.NullOr(Schema.Struct({ from: Schema.String, to: Schema.String })),
  origin: Schema.Literals(["live", "replay", "sample"]),
  url: Schema.String,
  /** The address that finally responded, without its query if a redirect led there. */
  final_url: Schema.String,
  /** 304: the source confirmed the payload that an earlier run fetched. The rest of the line describes that payload. */
  status: Schema.Int,
  content_type: Schema.NullOr(Schema.String),
  etag: Schema.NullOr(Schema.String),
  last_modified: Schema.NullOr(Schema.String),
  /** False if a recording without a query was used for an address with one. */
  exact: Schema.Boolean,
  extra_values: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** When the response began, UTC, with milliseconds. */
  fetched_at: Schema.String,
  /** For a 304: when the payload was received. */
  received_at: Schema.optionalKey(Schema.String),
  sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)), // it names a file
  bytes: Schema.Int,
  /** The interrupted run that fetched the payload, if this run reused it. */
  taken_from: Schema.optionalKey(Schema.String)
})
export type Fetch = typeof Fetch.Type

/** A fetch and the local path of its payload. */
export interface FetchedPayload extends Fetch {
  readonly path: string
}

export class ArchiveUnwritable extends Schema.TaggedError<ArchiveUnwritable>()("ArchiveUnwritable", {
  folder: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = reasonOf(this.cause)
    const remedy = isDiskFull(reason)
      ? "The disk is full: make room, and run again."
      : "Check permissions, and run again."
    return `The folder of payloads ${this.folder} cannot be written: ${reason}. ${remedy}`
  }
}

export class ArchiveUnreadable extends Schema.TaggedError<ArchiveUnreadable>()("ArchiveUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The raw archive cannot be read: ${this.file}: ${reasonOf(this.cause)}`
  }
}

/** Fails for anything but a file, before it is opened: a pipe would wait for its writer. */
export const statList = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file)
  if (info.type === "File") return info
  const problem = `it is ${describeKind(info.type)}, not the list of what a run fetched. Move it out of the archive, and run again.`
  return yield* new ArchiveUnreadable({ file, cause: new Error(problem) })
})

export type WriteError = PlatformError.PlatformError | FileUnwritable

export const writeCauseOf = (error: WriteError): unknown =>
  error._tag === "PlatformError" ? (error.reason.cause ?? error) : error.cause

export class RawFileDamaged extends Schema.TaggedError<RawFileDamaged>()("RawFileDamaged", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The archived payload ${this.file} ${this.problem}. Restore it from a backup; a run that fetches it again also repairs it.`
  }
}

/** Whether the run accepted a large loss, with `--accept-shrinkage`. */
const shrinkage_accepted = Schema.optionalKey(Schema.Boolean)

const Published = Schema.Struct({ run_id: Schema.String, published: Schema.String, shrinkage_accepted })

/** The last line of a run that published nothing, with its outcome. A killed or interrupted run has no such line. */
const Ended = Schema.Struct({ run_id: Schema.String, ended: Schema.String, shrinkage_accepted })

/** Whether a line ends a run that read its source. Runs without new rows count: later runs build on their reads. */
export const hasRead = (
  line: Effect.Success<ReturnType<typeof decodeLine>>
): line is typeof Published.Type | typeof Ended.Type =>
  "published" in line || ("ended" in line && ["unchanged", "partial"].includes(line.ended))

export type FetchListLine =
  | typeof Fetch.Encoded
  | typeof RefusedRequest.Encoded
  | typeof Published.Encoded
  | typeof Ended.Encoded

export const decodeLine = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Fetch, RefusedRequest, Published, Ended]))
)

/** Undefined if the line is truncated, as a killed run may have left it. */
export const parseLine = (text: string) => Effect.map(Effect.option(decodeLine(text)), Option.getOrUndefined)

export const parseLastLine = (list: string) => parseLine(list.trimEnd().split("\n").at(-1) ?? "")

export const hasPayload = (line: Effect.Success<ReturnType<typeof decodeLine>>): line is Fetch => "sha256" in line
