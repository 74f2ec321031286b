/** Written data survives a power cut only after it was flushed: the bytes of a file, and the names in a folder. */
import { Effect, FileSystem } from "effect"

/** On Windows a flush requires write access. Elsewhere it does not, and the owner may have removed write access. */
const flag = process.platform === "win32" ? "r+" : "r"

const flush = (at: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.scoped(Effect.flatMap(fs.open(at, { flag }), (opened) => opened.sync))
  )

export const syncFile = flush

/** Windows cannot flush a folder. */
export const syncFolder = (at: string) => (process.platform === "win32" ? Effect.void : flush(at))
