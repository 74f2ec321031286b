/** Writes a database file that appears in its place whole, or not at all. */
import { randomUUID } from "node:crypto"
import { Effect, FileSystem, Path } from "effect"
import { syncFile, syncFolder } from "../durable.ts"

/**
 * Lets `make` write a file beside `file`, then puts it there in one step, and replaces an existing one. Readers that
 * have the old file open keep it. The new one is read-only, so that no program writes to it by mistake.
 */
export const wholeFile = Effect.fnUntraced(function* <E, R>(
  file: string,
  make: (part: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // A killed process leaves this file behind. That of the catalogue is removed with the next generation.
  const part = `${file}.${randomUUID()}.building`
  const tidyUp = Effect.forEach(
    [part, `${part}.wal`, `${part}.tmp`],
    (left) => Effect.ignore(fs.remove(left, { recursive: true, force: true })),
    { discard: true }
  )
  yield* Effect.gen(function* () {
    yield* make(part)
    yield* syncFile(part)
    yield* fs.chmod(part, 0o444)
    yield* fs.rename(part, file)
    yield* syncFolder(path.dirname(file))
  }).pipe(Effect.ensuring(tidyUp))
})
