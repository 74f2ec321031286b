/**
 * Pulls objects from a shared depot to this machine, verified against their SHA-256. Objects that this machine has are
 * not transferred again, and an interrupted object resumes where it stopped.
 */
import { mkdir, open, rm, stat } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema, Stream } from "effect"
import { type ObjectId, objectName, putObject } from "../depot/depot.ts"
import { isDiskFull } from "../disk.ts"
import type { Layout } from "./layout.ts"
import type { Manifest } from "./manifest.ts"
import { faultOf, noteSeen, stampedId } from "./parts.ts"

/** An object cannot be written on this machine. */
class PullFailed extends Schema.TaggedError<PullFailed>()("PullFailed", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const hint = isDiskFull(reason) ? " The disk is full: make room, and try again." : ""
    return `${this.file} cannot be written: ${reason}.${hint} The live data on this machine stays.`
  }
}

/** The depot delivered a file that differs from the published one. */
class ObjectDamaged extends Schema.TaggedError<ObjectDamaged>()("ObjectDamaged", {
  location: Schema.String,
  sha256: Schema.String,
  generation: Schema.String
}) {
  override get message() {
    return `${objectName(this.sha256)} of ${this.generation} in ${this.location} is damaged: the received file has another size or SHA-256. The live data on this machine stays. Put the object there again from a machine that has it, or publish again.`
  }
}

const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new PullFailed({ file, cause }) })

const sizeOf = (file: string) =>
  attempt(file, () =>
    stat(file).then(
      ({ size }) => size,
      () => 0
    )
  )

/** Appends the missing bytes of an object to those that are here. Returns the number of bytes received. */
const receive = Effect.fnUntraced(function* ({ depot }: Layout, { bytes, sha256 }: ObjectId, file: string) {
  const opened = yield* Effect.acquireRelease(
    attempt(file, () => open(file, "a")),
    (handle) => Effect.promise(() => handle.close())
  )
  const from = yield* sizeOf(file)
  if (from >= bytes) return 0
  yield* Stream.runForEach(depot.bytes(objectName(sha256), from), (chunk) =>
    attempt(file, () => opened.appendFile(chunk))
  )
  return (yield* sizeOf(file)) - from
}, Effect.scoped)

/** The stamp of a file that is the whole object; undefined if it is not. */
const stampOfWhole = (file: string, { bytes, sha256 }: ObjectId) =>
  stampedId(file).pipe(
    Effect.mapError(({ cause }) => new PullFailed({ file, cause })),
    Effect.map(({ id, stamp }) => (id.bytes === bytes && id.sha256 === sha256 ? stamp : undefined))
  )

/**
 * Pulls one object. Tries at most twice, because an earlier pull may have left damaged bytes. Returns the number of
 * bytes received.
 */
const pullObject = Effect.fnUntraced(function* (layout: Layout, generation: string, object: ObjectId) {
  if ((yield* faultOf(layout, object)) === undefined) return 0
  const { sha256 } = object
  let received = 0
  const file = path.join(layout.incoming, sha256)
  yield* attempt(file, () => mkdir(layout.incoming, { recursive: true }))
  for (let attempts = 0; attempts < 2; attempts++) {
    received += yield* receive(layout, object, file)
    const stamp = yield* stampOfWhole(file, object)
    if (stamp !== undefined) {
      yield* layout.local.remove([objectName(sha256)]) // removes a damaged copy
      yield* putObject(layout.local, object, file)
      yield* noteSeen(layout, sha256, stamp) // the file is a hard link to the object
    }
    yield* attempt(file, () => rm(file))
    if (stamp !== undefined) return received
  }
  return yield* new ObjectDamaged({ location: layout.depot.location, sha256, generation })
})

/** The objects of a generation. */
export const objectsOf = ({ data_sets, ingest }: Manifest): ReadonlyArray<ObjectId> => [
  ...Object.values(data_sets).flatMap(({ parts }) => parts),
  ...ingest.parts
]

/** For transfers of several objects. */
export const concurrent = { concurrency: 4 } as const

/** Parts with the same bytes are one object. */
const eachOnce = (objects: ReadonlyArray<ObjectId>) =>
  new Map(objects.map((object) => [object.sha256, object])).values()

/** Pulls parts of a generation, if the depot is shared. Returns the number of bytes received. */
export const pullParts = (layout: Layout, generation: string, parts: ReadonlyArray<ObjectId>) =>
  layout.depot === layout.local
    ? Effect.succeed(0)
    : Effect.map(
        Effect.forEach(eachOnce(parts), (object) => pullObject(layout, generation, object), concurrent),
        (received) => received.reduce((sum, bytes) => sum + bytes, 0)
      )
