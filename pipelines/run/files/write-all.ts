/** Writes the files of a run, one call per buffer; `FileHandle.writeFile` makes many calls, of half a megabyte each. */
import { type FileHandle, open } from "node:fs/promises"
import { basename } from "node:path"
import { Effect, Schema } from "effect"
import { reasonOf } from "./causes.ts"

export class FileUnwritable extends Schema.TaggedError<FileUnwritable>()("FileUnwritable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.file} cannot be written: ${reasonOf(this.cause)}. Check free space and permissions, then run again.`
  }
}

/** Appends all bytes: a single write may stop short, for example on a nearly full disk. */
export const writeAll = async (file: FileHandle, bytes: Buffer) => {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

export const writePieces = (file: string, pieces: ReadonlyArray<Buffer>) =>
  Effect.tryPromise({
    try: async () => {
      const opened = await open(file, "w")
      try {
        for (const piece of pieces) await writeAll(opened, piece)
      } finally {
        await opened.close()
      }
    },
    catch: (cause) => new FileUnwritable({ file: basename(file), cause })
  })

export const writeLines = (file: string, lines: ReadonlyArray<string>) =>
  writePieces(file, [Buffer.from(lines.join(""))])
