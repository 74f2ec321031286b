/**
 * Packs loose payloads when a run ends: its own, and those of killed runs. A loose file is removed only when it
 * can be read from a pack that is durable on disk. A kill at any time loses nothing: the next run removes the
 * half-written zip, and packs the remaining loose files.
 */
import path from "node:path"
import { ifMissing, syncFile, syncFolder } from "@larder/warehouse"
import { Clock, Effect, FileSystem, Option } from "effect"
import { reasonOf } from "../files/causes.ts"
import { RawFileDamaged } from "./fetch-list.ts"
import { newWorkName } from "./incoming.ts"
import { maxReuseAge } from "./interrupted-runs.ts"
import { isCompressible, type LoosePayload, verifyPack, writePack } from "./packs/pack-file.ts"
import type { PackedPayloads } from "./packs/packed-payloads.ts"
import { looseName, type RunPayloads, removeIfEmpty } from "./run-payloads.ts"

/** A larger compressed payload stays loose: packing a release of branded foods would copy 450 MB and save nothing. */
const minLargeBytes = 16 * 1024 * 1024

interface Loose extends LoosePayload {
  readonly bytes: number
}

export const findLoose = Effect.fnUntraced(function* (root: string, hashes: Iterable<string>) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<Loose> = []
  for (const sha256 of hashes) {
    const file = path.join(root, looseName(sha256))
    const info = yield* fs.stat(file).pipe(ifMissing(undefined))
    if (info === undefined) continue
    const written_at = Option.getOrElse(info.mtime, () => new Date(0))
    found.push({ sha256, file, written_at, bytes: Number(info.size) })
  }
  return found
})

/** Finds all loose payloads that no later run reuses, see `interrupted-runs.ts`. */
const findAbandoned = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const earliest = (yield* Clock.currentTimeMillis) - maxReuseAge
  const folders = (yield* fs.readDirectory(root)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const names = yield* Effect.forEach(folders, (name) =>
    fs.readDirectory(path.join(root, name)).pipe(ifMissing<ReadonlyArray<string>>([]))
  )
  const hashes = names.flat().filter((name) => /^[0-9a-f]{64}$/.test(name))
  return (yield* findLoose(root, hashes)).filter(({ written_at }) => written_at.getTime() <= earliest)
})

/** Whether a payload is large and already compressed. False if another run has packed it in the meantime. */
const staysLoose = ({ bytes, file }: Loose) =>
  bytes < minLargeBytes
    ? Effect.succeed(false)
    : Effect.promise(async () => !(await isCompressible(file).catch(() => true)))

/** Writes a pack and reads it back before it gets its name: it appears complete and durable, or not at all. */
export const createPack = Effect.fnUntraced(function* (
  root: string,
  target: string,
  payloads: ReadonlyArray<LoosePayload>
) {
  const fs = yield* FileSystem.FileSystem
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
  readonly root: string
  readonly run_id: string
  readonly payloads: RunPayloads
  readonly packed: PackedPayloads
}

const pack = Effect.fnUntraced(function* ({ packed, payloads, root }: Packing, target: string) {
  const fs = yield* FileSystem.FileSystem
  const loosePayloads = [...(yield* findLoose(root, payloads.used)), ...(yield* findAbandoned(root))]
  const candidates = new Map(loosePayloads.map((loose) => [loose.sha256, loose]))
  const toPack: Array<Loose> = []
  const alreadyPacked: Array<Loose> = []
  for (const loose of candidates.values()) {
    if (yield* packed.isIntact(loose.sha256)) {
      alreadyPacked.push(loose) // packed by a run that was killed before it could remove it, or by a concurrent run
      continue
    }
    if (yield* staysLoose(loose)) continue
    const payload = yield* payloads.provide(loose.sha256)
    if ("path" in payload) toPack.push({ ...loose, file: payload.path })
    else yield* Effect.logWarning(new RawFileDamaged(payload).message)
  }
  if (toPack.length > 0) {
    const isFirst = !(yield* fs.exists(path.dirname(target)))
    yield* createPack(root, target, toPack)
    if (isFirst) yield* syncFolder(root)
    yield* packed.add(
      path.basename(target),
      toPack.map(({ sha256 }) => sha256)
    )
  }
  const files = [...alreadyPacked, ...toPack].map(({ sha256 }) => payloads.looseFile(sha256))
  for (const file of files) yield* fs.remove(file, { force: true })
  for (const folder of new Set(files.map((file) => path.dirname(file)))) yield* removeIfEmpty(folder)
})

/** If this fails, a warning is logged: the payloads stay loose, which loses nothing. */
export const packLoose = Effect.fn("Packs.packLoose")(function* (packing: Packing) {
  const fs = yield* FileSystem.FileSystem
  const target = path.join(packing.root, "packs", `${packing.run_id}.zip`)
  const warn = (cause: unknown) =>
    Effect.logWarning(
      `Payloads could not be packed into ${target}: ${reasonOf(cause)}. They stay loose, which loses nothing; a later run packs them.`
    )
  if (yield* Effect.orElseSucceed(fs.exists(target), () => true)) {
    return yield* warn("there is a pack of this run already")
  }
  yield* Effect.catch(pack(packing, target), (error) =>
    warn(error._tag === "PlatformError" ? (error.reason.cause ?? error) : error.cause)
  )
})
