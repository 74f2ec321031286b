/**
 * Compresses large payloads after a run: its own, and those of earlier runs that failed, were killed or interrupted. The
 * plain file is removed only when the compressed one has been read back and is on the disk, so a kill at any time loses
 * nothing. An interruption stops it; the payload stays plain.
 */
import { ifMissing } from "@larder/warehouse"
import { ByteSize, Effect, FileSystem } from "effect"
import { reasonOf } from "../files/causes.ts"
import { isCompressible } from "./compression.ts"
import { RawFileDamaged, type WriteError, writeCauseOf } from "./fetch-list.ts"
import { listPayloadFiles, type PayloadFile, warnOfOddEntry } from "./payload-files.ts"
import { minLargeBytes, type RunPayloads } from "./run-payloads.ts"

/** More takes seconds to minutes: the log says why the program has not ended. */
const minLoggedBytes = 100_000_000

const warn = (what: string, error: WriteError) =>
  Effect.logWarning(
    `${what} could not be compressed: ${reasonOf(writeCauseOf(error))}. It stays as fetched, which loses nothing; a later run tries again.`
  )

/** The bytes of a plain file that should be compressed; 0 if not, or if another run has compressed it in the meantime. */
const bytesToCompress = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.stat(file).pipe(ifMissing(undefined))
    if (info === undefined) return 0
    if (info.type !== "File") return yield* Effect.as(warnOfOddEntry(file, "it is not a regular file"), 0)
    if (info.size < minLargeBytes) return 0
    return (yield* isCompressible(file)) ? Number(info.size) : 0
  },
  (effect, file) => Effect.catch(effect, (error) => Effect.as(warn(`The large payload ${file}`, error), 0))
)

const compressOne = Effect.fnUntraced(
  function* ({ sha256 }: PayloadFile, payloads: RunPayloads) {
    const payload = yield* payloads.provide(sha256)
    if ("path" in payload) yield* payloads.storeCompressed(sha256)
    else yield* Effect.logWarning(new RawFileDamaged(payload).message)
  },
  (effect, { file }) => Effect.catch(effect, (error) => warn(`The large payload ${file}`, error))
)

/** A payload that cannot be compressed stays as it is, with a warning. */
export const compressLarge = Effect.fn("Archive.compressLarge")(
  function* (root: string, payloads: RunPayloads) {
    const large: Array<PayloadFile> = []
    let total = 0
    for (const payload of yield* listPayloadFiles(root)) {
      const bytes = payload.isCompressed ? 0 : yield* bytesToCompress(payload.file)
      if (bytes === 0) continue
      large.push(payload)
      total += bytes
    }
    if (total > minLoggedBytes) {
      const size = ByteSize.format(ByteSize.bytes(total), { precision: 1, system: "decimal" })
      yield* Effect.logInfo(
        `compressing ${size} of payloads in the raw archive, which takes up to a minute per GB; after Ctrl-C, a later run does it`
      )
    }
    for (const payload of large) yield* compressOne(payload, payloads)
  },
  (effect, root) => Effect.catch(effect, (error) => warn(`The raw archive ${root}`, error))
)
