/**
 * The record counts that a release states for its own files, in `all_downloaded_table_record_counts.csv`. A file that
 * was truncated between two records looks complete, and only these counts show it. They were exact for every dictionary
 * file that could be compared, and are known to be wrong for `food.csv`. So `food.csv` is compared with the count of
 * `branded_food.csv`, because every label has a row in `food.csv`, and a small difference is allowed. If records are
 * missing, files that were unpacked by hand are refused. Files of a zip, whose checksums hold, cause a warning: the
 * number may be wrong.
 */
import { Effect, Schema } from "effect"
import { startOf } from "../../source/zip.ts"
import { HeaderUnreadable } from "./header.ts"
import type { LabelMember } from "./members.ts"

export const countsFile = "all_downloaded_table_record_counts.csv"

/**
 * A few records more or less do not mean that a file was truncated. One in a hundred truncations at a random place
 * stays below this limit.
 */
const percentAllowed = 1

/** A file has fewer records than its release states. */
export class RecordsMissing extends Schema.TaggedError<RecordsMissing>()("RecordsMissing", {
  file: Schema.String,
  found: Schema.Int,
  stated: Schema.Int,
  /** The file for which the release states these records. */
  of: Schema.String
}) {
  override get message() {
    const stated = this.of === this.file ? `${this.stated}` : `${this.stated} for ${this.of}`
    return `${this.file} holds ${this.found} records, and ${countsFile} states ${stated}: it may have been cut off between two records. Unpack the release again; with --accept-shrinkage it is read as it is.`
  }
}

/** Record counts by file name, without the extension. */
export type StatedCounts = ReadonlyMap<string, number>

/** The largest so far has 1,010 bytes. */
const maxBytes = 65_536

/** Lines that state no record count are skipped: the file has no other use. */
export const readStatedCounts = (path: string) =>
  Effect.tryPromise({
    try: () => startOf(path, maxBytes),
    catch: (cause) =>
      new HeaderUnreadable({ file: countsFile, line: null, problem: `it cannot be read: ${String(cause)}` })
  }).pipe(
    Effect.map((start): StatedCounts => {
      const lines = start.toString("utf8").matchAll(/^"?([a-z_]+)"?,"?(\d{1,9})"?\r?$/gim)
      return new Map([...lines].map(([, name = "", records]) => [name.toLowerCase(), Number(records)]))
    })
  )

/** The error of a file with fewer records than stated; undefined if enough records are there. */
export const missingRecords = (stated: StatedCounts, member: LabelMember, found: number) => {
  const of = member === "food" ? "branded_food" : member
  const records = stated.get(of) ?? 0
  return 100 * (records - found) > percentAllowed * records
    ? new RecordsMissing({ file: `${member}.csv`, found, stated: records, of: `${of}.csv` })
    : undefined
}
