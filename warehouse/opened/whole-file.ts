/** A database file that appears in its place whole, or not at all. */
import { randomUUID } from "node:crypto"
import { Effect, FileSystem, Path } from "effect"

const sync = (file: string, flag: "r" | "r+") =>
  Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(file, { flag }), (open) => open.sync)))

/** Windows has no such call. */
const syncFolder = (folder: string) => (process.platform === "win32" ? Effect.void : sync(folder, "r"))

/**
 * Has `make` write a file beside `file` and puts it there in one step, in the place of one that was there. Who has that one
 * open keeps it. Nobody can write to the new one by mistake.
 */
export const wholeFile = Effect.fnUntraced(function* <E, R>(
  file: string,
  make: (part: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const part = `${file}.${randomUUID()}.building` // of the catalogue, what a killed process leaves goes with the next generation
  const tidyUp = Effect.forEach(
    [part, `${part}.wal`, `${part}.tmp`],
    (left) => Effect.ignore(fs.remove(left, { recursive: true, force: true })),
    { discard: true }
  )
  yield* Effect.gen(function* () {
    yield* make(part)
    yield* sync(part, "r+")
    yield* fs.chmod(part, 0o444)
    yield* fs.rename(part, file)
    yield* syncFolder(path.dirname(file))
  }).pipe(Effect.ensuring(tidyUp))
})
