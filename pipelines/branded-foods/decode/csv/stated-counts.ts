/**
 * The record counts that a release declares for its files: only they show that a file was truncated between two
 * records. The counts of dictionaries are exact. The count of `food.csv` is wrong, so `food.csv` is compared with
 * `branded_food.csv`, with a tolerance: every label has a row in both. If records are missing, unpacked files are
 * rejected. Files of a zip have correct checksums and only cause a warning: the declared count may be wrong.
 */
import { Effect, Schema } from "effect"
import { thresholds } from "../../../run/thresholds.ts"
import { readStart } from "../../source/zip.ts"
import { fileUnreadable } from "./header.ts"
import type { LabelMember } from "./members.ts"

export const countsFile = "all_downloaded_table_record_counts.csv"

export class RecordsMissing extends Schema.TaggedError<RecordsMissing>()("RecordsMissing", {
  file: Schema.String,
  found: Schema.Int,
  stated: Schema.Int,
  /** The file whose count was compared. */
  counted: Schema.String
}) {
  override get message() {
    const stated = this.counted === this.file ? `${this.stated}` : `${this.stated} for ${this.counted}`
    return `${this.file} has ${this.found} records, and ${countsFile} declares ${stated}: it may have been cut off between two records. Unpack the release again, or load it as it is with --accept-shrinkage.`
  }
}

/** The largest so far has 1,010 bytes. */
const maxBytes = 65_536

/** Record counts by file name, without the extension. Lines without a count are skipped. */
export const readStatedCounts = (path: string) =>
  Effect.tryPromise({
    try: () => readStart(path, maxBytes),
    catch: fileUnreadable(countsFile)
  }).pipe(
    Effect.map((start) => {
      const lines = start.toString("utf8").matchAll(/^"?([a-z_]+)"?,"?(\d{1,9})"?\r?$/gim)
      return new Map([...lines].map(([, name = "", records]) => [name.toLowerCase(), Number(records)] as const))
    })
  )

/**
 * The error of a file with fewer records than declared; undefined if it has enough. A few missing records do not mean that
 * a file was truncated: one in a hundred random truncations is below the limit.
 */
export const findMissingRecords = (counts: ReadonlyMap<string, number>, member: LabelMember, found: number) => {
  const comparedWith = member === "food" ? "branded_food" : member
  const stated = counts.get(comparedWith) ?? 0
  return 100 * (stated - found) > thresholds.missingRecords.value * stated
    ? new RecordsMissing({ file: `${member}.csv`, found, stated, counted: `${comparedWith}.csv` })
    : undefined
}
