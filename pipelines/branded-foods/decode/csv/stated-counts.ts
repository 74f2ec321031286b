/**
 * The record counts that a release declares for its files: only they show that a file was truncated between two
 * records. The counts of dictionaries are exact. The count of `food.csv` is wrong, so `food.csv` is compared with
 * `branded_food.csv`, with a tolerance: every label has a row in both. If records are missing, unpacked files are
 * rejected. Files of a zip have correct checksums and only cause a warning: the declared count may be wrong.
 */
import { Effect, Schema } from "effect"
import { isPlaceholder } from "../../../run/placeholders.ts"
import { thresholds } from "../../../run/thresholds.ts"
import { readStart } from "../../source/zip.ts"
import { isUtf16, utf16Problem } from "../utf16.ts"
import { fileUnreadable } from "./header.ts"
import { type LabelMember, labelMembers } from "./members.ts"

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
const maxLineLength = 80

/** The records of a file: `1993975`, `1,993,975` with any separator of thousands, or `1993975.0`. */
const readCount = (text: string) => {
  const [, digits, grouped] =
    /^(?:(\d{1,9})(?:\.0{1,2})?|(\d{1,3}(?:[,.'’ \u00A0\u2009\u202F]\d{3}){1,2}))$/.exec(text) ?? []
  const count = digits ?? grouped?.replaceAll(/\D/g, "")
  return count === undefined ? undefined : Number(count)
}

interface StatedCounts {
  /** By file name, without the extension. */
  readonly counts: ReadonlyMap<string, number>
  /** The lines whose count is not understood, of files that are read. */
  readonly unclear: ReadonlyArray<string>
}

/** Files whose count is compared. */
const isCompared = (name: string) => labelMembers.some((member) => member === name)

/** Lines of other files, and lines without a count, are skipped. */
export const readStatedCounts = (path: string) =>
  Effect.tryPromise({
    try: () => readStart(path, maxBytes),
    catch: fileUnreadable(countsFile)
  }).pipe(
    Effect.map((start): StatedCounts => {
      const counts = new Map<string, number>()
      const unclear: Array<string> = []
      const text = isUtf16(start) ? "" : start.toString("utf8")
      const lines = text.matchAll(/^\uFEFF?"?([a-z_]+)(?:\.csv)?"?[,;\t][ "]*(.*?)[ ",;]*$/gim)
      for (const [line, stated = "", said = ""] of lines) {
        const name = stated.toLowerCase()
        const count = readCount(said)
        if (count !== undefined) counts.set(name, count)
        else if (isCompared(name) && !isPlaceholder(said)) unclear.push(line.slice(0, maxLineLength))
      }
      if (counts.size === 0 && unclear.length === 0) {
        unclear.push(isUtf16(start) ? utf16Problem : "no line has the name of a file and a number")
      }
      return { counts, unclear }
    })
  )

/**
 * The error of a file with fewer records than declared; undefined if it has enough. A few missing records do not mean that
 * a file was truncated: one in a hundred random truncations is below the limit.
 */
export const findMissingRecords = (counts: ReadonlyMap<string, number>, member: LabelMember, found: number) => {
  const comparedWith = member === "food" ? "branded_food" : member
  const stated = counts.get(comparedWith) ?? 0
  return thresholds.missingRecords.isMetBy(stated - found, stated)
    ? new RecordsMissing({ file: `${member}.csv`, found, stated, counted: `${comparedWith}.csv` })
    : undefined
}
