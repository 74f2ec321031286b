/**
 * Compresses large payloads after a run: its own, and those of killed runs. The plain file is removed only when the
 * compressed one has been read back and is on the disk, so a kill at any time loses nothing.
 */
import path from "node:path"
import { ifMissing } from "@larder/warehouse"
import { Effect, FileSystem } from "effect"
import { reasonOf } from "../files/causes.ts"
import { isCompressible } from "./compression.ts"
import { RawFileDamaged } from "./fetch-list.ts"
import { minLargeBytes, type RunPayloads } from "./run-payloads.ts"
import { plainFile } from "./stored-payloads.ts"

const listPlain = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const folders = (yield* fs.readDirectory(root)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const names = yield* Effect.forEach(folders, (folder) =>
    Effect.map(fs.readDirectory(path.join(root, folder)), (files) =>
      files.filter((name) => /^[0-9a-f]{64}$/.test(name))
    )
  )
  return names.flat()
})

/** Whether a plain file should be compressed. False if another run has compressed it in the meantime. */
const isWorthwhile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file).pipe(ifMissing(undefined))
  if (info === undefined || info.size < minLargeBytes) return false
  return yield* Effect.orElseSucceed(isCompressible(file), () => false)
})

/** A payload that cannot be compressed stays as it is, with a warning. */
export const compressLarge = Effect.fn("Archive.compressLarge")(
  function* (root: string, payloads: RunPayloads) {
    for (const sha256 of yield* listPlain(root)) {
      if (!(yield* isWorthwhile(plainFile(root, sha256)))) continue
      const payload = yield* payloads.provide(sha256)
      if ("path" in payload) yield* payloads.storeCompressed(sha256)
      else yield* Effect.logWarning(new RawFileDamaged(payload).message)
    }
  },
  Effect.catch((error) => {
    const cause = error._tag === "PlatformError" ? (error.reason.cause ?? error) : error.cause
    return Effect.logWarning(
      `A large payload could not be compressed: ${reasonOf(cause)}. It stays as fetched, which loses nothing; a later run tries again.`
    )
  })
)
