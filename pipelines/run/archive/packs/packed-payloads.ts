/**
 * Payloads in the packs of an archive. A packed payload is used only if its bytes are still those that were fetched. If
 * several packs contain it, the first undamaged one is used.
 */
import path from "node:path"
import { Effect, FileSystem } from "effect"
import { reasonOf } from "../../files/causes.ts"
import { FileUnwritable } from "../../files/write-all.ts"
import { openPack, type Pack, readMember } from "./pack-file.ts"
import { type IndexUse, openPackIndex } from "./pack-index.ts"

/** A run that confirms payloads of many earlier runs opens many packs, one after the other. */
const maxOpenPacks = 8

export interface PayloadFault {
  readonly file: string
  readonly problem: string
}

interface OpenPack {
  readonly pack: Promise<Pack>
  readers: number
  isDropped: boolean
}

/** Opens each pack once. Closes the least recently used packs when no reader uses them any more. */
const makePackCache = (fileOf: (name: string) => string) => {
  const open = new Map<string, OpenPack>()
  const closeUnused = ({ isDropped, pack, readers }: OpenPack) => {
    if (isDropped && readers === 0) pack.then((opened) => opened.close()).catch(() => undefined) // its readers got the error
  }
  const drop = (name: string) => {
    const opened = open.get(name)
    if (opened === undefined) return
    open.delete(name)
    opened.isDropped = true
    closeUnused(opened)
  }
  const read = async <A>(name: string, reading: (pack: Pack) => Promise<A>) => {
    const opened = open.get(name) ?? { pack: openPack(fileOf(name)), readers: 0, isDropped: false }
    opened.readers += 1
    open.delete(name)
    open.set(name, opened)
    const [oldest] = open.keys()
    if (open.size > maxOpenPacks && oldest !== undefined) drop(oldest)
    try {
      return await reading(await opened.pack)
    } catch (cause) {
      if (open.get(name) === opened) drop(name) // an undamaged pack may replace it
      throw cause
    } finally {
      opened.readers -= 1
      closeUnused(opened)
    }
  }
  return { read, close: () => [...open.keys()].forEach(drop) }
}

export const openPackedPayloads = Effect.fnUntraced(function* (folder: string, use: IndexUse) {
  const fs = yield* FileSystem.FileSystem
  const index = yield* openPackIndex(folder, use)
  const packs = yield* Effect.acquireRelease(
    Effect.sync(() => makePackCache((name) => path.join(folder, name))),
    ({ close }) => Effect.sync(close)
  )

  /**
   * Reads a payload to its end, into a new file if `target` is given. Undefined if it is undamaged, `absent` if the
   * index lists no pack for it.
   */
  const read = Effect.fnUntraced(function* (sha256: string, target?: string) {
    let fault: PayloadFault | "absent" = "absent"
    for (const name of yield* index.packsOf(sha256)) {
      const reading = Effect.tryPromise({
        try: () => packs.read(name, (pack) => readMember(pack, sha256, target)),
        catch: (cause): PayloadFault | FileUnwritable =>
          cause instanceof FileUnwritable
            ? cause
            : { file: `${sha256} in ${path.join(folder, name)}`, problem: `cannot be read (${reasonOf(cause)})` }
      })
      const packFault = yield* Effect.uninterruptible(reading).pipe(
        Effect.as(undefined),
        Effect.catch((error) => (error instanceof FileUnwritable ? Effect.fail(error) : Effect.succeed(error)))
      )
      if (packFault === undefined) return undefined
      fault = packFault
      if (target !== undefined) yield* fs.remove(target, { force: true })
    }
    return fault
  })

  return {
    extract: (sha256: string, target: string) => read(sha256, target),
    isIntact: (sha256: string) => Effect.orDie(Effect.map(read(sha256), (fault) => fault === undefined)), // writes nothing, so it cannot fail
    add: index.add,
    refresh: index.refresh
  }
})
export type PackedPayloads = Effect.Success<ReturnType<typeof openPackedPayloads>>
