/** A payload of the raw archive as a run reads it, and the errors of the archive. */
import { Schema } from "effect"
import type { Fetch } from "./fetch-list.ts"

/** A fetch and the local path of its payload. */
export interface RawFile extends Fetch {
  readonly path: string
}

export class ArchiveUnwritable extends Schema.TaggedError<ArchiveUnwritable>()("ArchiveUnwritable", {
  folder: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The raw archive ${this.folder} cannot be written: ${reason}. Check free space and permissions, then run again.`
  }
}

/** A payload in the archive is not the one that was fetched. */
export class RawFileDamaged extends Schema.TaggedError<RawFileDamaged>()("RawFileDamaged", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The archived payload ${this.file} ${this.problem}. Restore it from a backup; an ingest that fetches it again mends it, too.`
  }
}
