import { createHash } from "node:crypto"
import { Effect, FileSystem, Stream } from "effect"
import { pieceBytes } from "./chunk-size.ts"

/** SHA-256 of a file, in constant memory. */
export const sha256Of = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  const pieces = fs.stream(file, { chunkSize: pieceBytes })
  yield* Stream.runForEach(pieces, (piece) => Effect.sync(() => hash.update(piece)))
  return hash.digest("hex")
})
