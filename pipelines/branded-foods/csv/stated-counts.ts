/**
 * What a release says of its own files: `all_downloaded_table_record_counts.csv`. A file that was cut between two records looks
 * whole, and only this tells. It was exact for each file of the dictionaries that it could be held against, and is known to be
 * wrong about `food.csv`; so `food.csv` is held against the labels, each of which has a row there, and a little is allowed. Files
 * that were unpacked by hand are refused then; those of a zip, whose checksums hold, cause a warning: the number may be wrong.
 */
import { open } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { HeaderUnreadable } from "./header.ts"
import type { LabelMember } from "./members.ts"

export const countsFile = "all_downloaded_table_record_counts.csv"

/** A few records more or less are no cut file, and of cuts at any place one in a hundred lies behind this. */
const percentAllowed = 1

/** A file has fewer records than its release says. */
export class RecordsMissing extends Schema.TaggedError<RecordsMissing>()("RecordsMissing", {
  file: Schema.String,
  found: Schema.Int,
  stated: Schema.Int,
  /** The file that these records are stated of. */
  of: Schema.String
}) {
  override get message() {
    const stated = this.of === this.file ? `${this.stated}` : `${this.stated} for ${this.of}`
    return `${this.file} holds ${this.found} records, and ${countsFile} states ${stated}: it may have been cut off between two records. Unpack the release again; with --accept-shrinkage it is read as it is.`
  }
}

/** Records by name of the file, without its ending. */
export type StatedCounts = ReadonlyMap<string, number>

/** The largest so far has 1,010 bytes. */
const mostBytes = 65_536

const read = async (path: string) => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes), position: 0 })
    return buffer.toString("utf8", 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Lines that state no number of records are passed over: the file is of no other use. */
export const readStatedCounts = (path: string) =>
  Effect.tryPromise({
    try: () => read(path),
    catch: (cause) =>
      new HeaderUnreadable({ file: countsFile, line: null, problem: `it cannot be read: ${String(cause)}` })
  }).pipe(
    Effect.map((text): StatedCounts => {
      const lines = text.matchAll(/^"?([a-z_]+)"?,"?(\d{1,9})"?\r?$/gim)
      return new Map([...lines].map(([, name = "", records]) => [name.toLowerCase(), Number(records)]))
    })
  )

/** What a file lacks of the records that are stated; undefined where it lacks none. */
export const missingRecords = (stated: StatedCounts, member: LabelMember, found: number) => {
  const of = member === "food" ? "branded_food" : member
  const records = stated.get(of) ?? 0
  return 100 * (records - found) > percentAllowed * records
    ? new RecordsMissing({ file: `${member}.csv`, found, stated: records, of: `${of}.csv` })
    : undefined
}
