/**
 * Packs loose payloads when a run ends: those of the run, and those that killed runs left. The pack appears complete or
 * not at all, and a loose file is removed only when it can be read from a pack that is durable on disk. A kill at any
 * moment loses nothing: the next run removes the half-written zip, and packs what is still loose.
 */
import { ifMissing, syncFile, syncFolder } from "@larder/warehouse"
import { Clock, Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { reasonOf } from "../files/causes.ts"
import { RawFileDamaged } from "./fetch-list.ts"
import { newWorkName } from "./incoming.ts"
import { takenFor } from "./interrupted-runs.ts"
import { isCompressible, type LoosePayload, verifyPack, writePack } from "./packs/pack-file.ts"
import type { PackedPayloads } from "./packs/packed-payloads.ts"
import { looseName, type RunPayloads, removeIfEmpty } from "./run-payloads.ts"

/**
 * From this size on, a payload that is already compressed stays loose permanently: packing a release of branded foods
 * would copy 450 MB and save nothing.
 */
const largeFrom = 16 * 1024 * 1024

class PackingFailed extends Schema.TaggedError<PackingFailed>()("PackingFailed", {
  pack: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `Payloads could not be packed into ${this.pack}: ${reasonOf(this.cause)}. They stay loose, which loses nothing; a later run packs them.`
  }
}

interface Loose extends LoosePayload {
  readonly bytes: number
}

/** Undefined if it is not loose, or no longer loose. */
export const looseOf = Effect.fnUntraced(function* (root: string, sha256: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(root, looseName(sha256))
  const info = yield* fs.stat(file).pipe(ifMissing(undefined))
  if (info === undefined) return undefined
  const written_at = Option.getOrElse(info.mtime, () => new Date(0))
  return { sha256, file, written_at, bytes: Number(info.size) } satisfies Loose
})

/** All loose payloads that no later run takes over, see `interrupted-runs.ts`. */
const leftBehind = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const earliest = (yield* Clock.currentTimeMillis) - takenFor
  const folders = (yield* fs.readDirectory(root)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const names = yield* Effect.forEach(folders, (name) =>
    fs.readDirectory(path.join(root, name)).pipe(ifMissing<ReadonlyArray<string>>([]))
  )
  const hashes = names.flat().filter((name) => /^[0-9a-f]{64}$/.test(name))
  const found = yield* Effect.forEach(hashes, (sha256) => looseOf(root, sha256))
  return found.filter((one) => one !== undefined).filter(({ written_at }) => written_at.getTime() <= earliest)
})

/** Whether a payload is large and already compressed. False if another run has packed it meanwhile. */
const staysLoose = ({ bytes, file }: Loose) =>
  bytes < largeFrom
    ? Effect.succeed(false)
    : Effect.promise(async () => !(await isCompressible(file).catch(() => true)))

/** Writes a pack and reads it back before it gets its name: it appears complete and durable, or not at all. */
export const putPack = Effect.fnUntraced(function* (
  root: string,
  target: string,
  payloads: ReadonlyArray<LoosePayload>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const part = path.join(root, "incoming", newWorkName("part"))
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(part, { force: true })))
  yield* Effect.tryPromise(() => writePack(part, payloads))
  yield* syncFile(part)
  yield* Effect.tryPromise(() => verifyPack(part, payloads))
  yield* fs.makeDirectory(path.dirname(target), { recursive: true })
  yield* fs.rename(part, target)
  yield* syncFolder(path.dirname(target))
}, Effect.scoped)

interface Packing {
  /** The archive. */
  readonly root: string
  readonly run_id: string
  readonly payloads: RunPayloads
  readonly packed: PackedPayloads
}

const pack = Effect.fnUntraced(function* ({ packed, payloads, root }: Packing, target: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const own = (yield* Effect.forEach(payloads.used, (sha256) => looseOf(root, sha256))).filter(
    (one) => one !== undefined
  )
  const candidates = new Map([...own, ...(yield* leftBehind(root))].map((one) => [one.sha256, one]))
  const toPack: Array<Loose> = []
  const done: Array<Loose> = []
  for (const loose of candidates.values()) {
    if (yield* packed.isWhole(loose.sha256)) {
      done.push(loose) // packed by a run that was killed before it could remove it, or by a concurrent run
      continue
    }
    if (yield* staysLoose(loose)) continue
    const found = yield* payloads.provide(loose.sha256)
    if ("path" in found) toPack.push({ ...loose, file: found.path })
    else yield* Effect.logWarning(new RawFileDamaged(found).message)
  }
  if (toPack.length > 0) {
    const isFirst = !(yield* fs.exists(path.dirname(target)))
    yield* putPack(root, target, toPack)
    if (isFirst) yield* syncFolder(root)
    yield* packed.add(
      path.basename(target),
      toPack.map(({ sha256 }) => sha256)
    )
  }
  const files = [...done, ...toPack].map(({ sha256 }) => payloads.looseFile(sha256))
  for (const file of files) yield* fs.remove(file, { force: true })
  for (const folder of new Set(files.map((file) => path.dirname(file)))) yield* removeIfEmpty(folder)
})

/** A run packs once: the pack has the name of the run. */
export const packLoose = Effect.fn("Packs.packLoose")(function* (packing: Packing) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.join(packing.root, "packs", `${packing.run_id}.zip`)
  const failed = (cause: unknown) => Effect.fail(new PackingFailed({ pack: target, cause }))
  if (yield* Effect.orElseSucceed(fs.exists(target), () => true))
    return yield* failed("there is a pack of this run already")
  yield* pack(packing, target).pipe(
    Effect.catchTag("PlatformError", (error: PlatformError.PlatformError) => failed(error.reason.cause ?? error)),
    Effect.catchTag("UnknownError", ({ cause }) => failed(cause))
  )
})
