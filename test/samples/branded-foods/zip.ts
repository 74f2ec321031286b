/** Writes reproducible zip archives like those of the source: all entries have the same time. ZIP64 beyond 4 GB. */
import { createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import yazl from "yazl"

export interface ZipEntry {
  /** Path on the disk. */
  readonly file: string
  /** Path in the archive. */
  readonly name: string
}

/** 1980-01-01, the first day in a zip. It is local time, because a zip has no time zone. */
const sameTime = new Date(1980, 0, 1)

/** `level` 0 stores, 1 is fast, 9 is small. */
export const writeZip = async (files: ReadonlyArray<ZipEntry>, target: string, level = 6) => {
  const zip = new yazl.ZipFile()
  const failed = new Promise<never>((_, reject) => zip.on("error", reject))
  for (const { file, name } of files)
    zip.addFile(file, name, {
      mtime: sameTime,
      mode: 0o100644,
      compress: level > 0,
      compressionLevel: level,
      forceDosTimestamp: true
    })
  zip.end()
  await Promise.race([pipeline(zip.outputStream, createWriteStream(target)), failed])
}
