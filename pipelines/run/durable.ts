/** What was written survives a power cut only once it was flushed: the bytes of a file, and the names in a folder. */
import { Effect, FileSystem } from "effect"

/** Windows requires write access for it, which the owner of an archive may have taken away. */
const flag = process.platform === "win32" ? "r+" : "r"

const flush = (at: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.scoped(Effect.flatMap(fs.open(at, { flag }), (opened) => opened.sync))
  )

export const syncFile = flush

/** Windows has no such call. */
export const syncFolder = (at: string) => (process.platform === "win32" ? Effect.void : flush(at))
