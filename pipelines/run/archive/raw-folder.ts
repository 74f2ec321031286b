/** The folder of the raw archive in a home, and the refusal of one in an earlier format. */
import path from "node:path"
import { Effect, FileSystem, Schema } from "effect"

export const rawFolderIn = (home: string) => path.join(home, "raw")

class OldArchive extends Schema.TaggedError<OldArchive>()("OldArchive", { folder: Schema.String }) {
  override get message() {
    return `${this.folder} is a raw archive in an earlier format (it has a folder packs). Nothing was changed. Start with a new home: set LARDER_HOME to an empty folder.`
  }
}

/** Rejects the archive of an earlier version, which stored the payloads of a run in one zip, in the folder `packs`. */
export const requireCurrentArchive = Effect.fnUntraced(function* (home: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = rawFolderIn(home)
  // a user who may not read the archive can still use the warehouse
  const isOld = yield* Effect.orElseSucceed(fs.exists(path.join(folder, "packs")), () => false)
  if (isOld) return yield* new OldArchive({ folder })
})
