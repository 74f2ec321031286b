/**
 * Pulls objects from a shared depot to this machine, verified against their SHA-256. Objects that this machine has are
 * not transferred again, and an interrupted transfer is resumed.
 */
import { mkdir, open, rm, stat } from "node:fs/promises"
import path from "node:path"
import { Effect, Stream } from "effect"
import { type Depot, type ObjectId, objectName, putObject } from "../depot/depot.ts"
import { FileOperationFailed, fileOperation } from "../disk.ts"
import { WarehouseProblem } from "../problem.ts"
import type { Layout } from "./layout.ts"
import type { Manifest } from "./manifest.ts"
import { findFault, identifyWithStamp, markVerified } from "./parts.ts"

const problem = "cannot be written"
const consequence = "The live data on this machine is unchanged."
const attempt = fileOperation(problem, consequence)

const sizeOf = (file: string) =>
  attempt(file, () =>
    stat(file).then(
      ({ size }) => size,
      () => 0
    )
  )

/** Appends the missing bytes of a stored file to a file on this machine. Returns the number of bytes received. */
export const receive = Effect.fnUntraced(function* (depot: Depot, name: string, bytes: number, file: string) {
  const handle = yield* Effect.acquireRelease(
    attempt(file, () => open(file, "a")),
    (opened) => Effect.promise(() => opened.close())
  )
  const from = yield* sizeOf(file)
  if (from >= bytes) return 0
  yield* Stream.runForEach(depot.readBytes(name, from), (chunk) => attempt(file, () => handle.appendFile(chunk)))
  return (yield* sizeOf(file)) - from
}, Effect.scoped)

/** The stamp of a file; undefined if it is not the whole object. */
const stampIfComplete = (file: string, { bytes, sha256 }: ObjectId) =>
  identifyWithStamp(file).pipe(
    Effect.mapError(({ cause }) => new FileOperationFailed({ file, problem, cause, consequence })),
    Effect.map(({ id, stamp }) => (id.bytes === bytes && id.sha256 === sha256 ? stamp : undefined))
  )

/** Tries at most twice, because an earlier pull may have left damaged bytes. Returns the number of bytes received. */
const pullObject = Effect.fnUntraced(function* (layout: Layout, generation: string, object: ObjectId) {
  if ((yield* findFault(layout, object)) === undefined) return 0
  const { sha256 } = object
  let received = 0
  const file = path.join(layout.incoming, sha256)
  yield* attempt(file, () => mkdir(layout.incoming, { recursive: true }))
  for (let attempts = 0; attempts < 2; attempts++) {
    received += yield* receive(layout.depot, objectName(sha256), object.bytes, file)
    const stamp = yield* stampIfComplete(file, object)
    if (stamp !== undefined) {
      yield* layout.local.remove([objectName(sha256)]) // removes a damaged copy
      yield* putObject(layout.local, object, file)
      yield* markVerified(layout, sha256, stamp) // the file is a hard link to the object
    }
    yield* attempt(file, () => rm(file))
    if (stamp !== undefined) return received
  }
  return yield* new WarehouseProblem({
    problem: `${objectName(sha256)} of ${generation} in ${layout.depot.location} is damaged: the size or SHA-256 of the received file differs. The live data on this machine is unchanged. Put the object there again from a machine that has it, or publish again.`
  })
})

export const objectsInManifest = ({ data_sets, ingest }: Manifest): ReadonlyArray<ObjectId> => [
  ...Object.values(data_sets).flatMap(({ parts }) => parts),
  ...ingest.parts
]

export const transferLimit = { concurrency: 4 } as const

/** Pulls parts of a generation, if the depot is shared. Returns the number of bytes received. */
export const pullParts = Effect.fnUntraced(function* (
  layout: Layout,
  generation: string,
  parts: ReadonlyArray<ObjectId>
) {
  if (layout.depot === layout.local) return 0
  const objects = new Map(parts.map((part) => [part.sha256, part])).values() // parts with the same bytes are one object
  const received = yield* Effect.forEach(objects, (object) => pullObject(layout, generation, object), transferLimit)
  return received.reduce((sum, bytes) => sum + bytes, 0)
})
