/**
 * States of the lake, in the depot: each names a generation and its catalogue. If several machines add to the same state,
 * the first one to put the next state wins.
 */
import { randomUUID } from "node:crypto"
import { open } from "node:fs/promises"
import path from "node:path"
import { Effect, Option, Schema, Stream } from "effect"
import { type Depot, ObjectId } from "../depot/depot.ts"
import { isDiskFull } from "../disk.ts"
import { generationId, listNumbers, readManifest } from "../generation/manifest.ts"
import { objectIdOf } from "../generation/parts.ts"
import { catalogueName, statesFolder } from "./names.ts"

/** The lake was not written by this warehouse. */
export class ForeignLake extends Schema.TaggedError<ForeignLake>()("ForeignLake", {
  location: Schema.String,
  /** What was found. */
  fault: Schema.String
}) {
  override get message() {
    return `${this.location}/lake ${this.fault}. It was not changed. Move that folder aside so that the next run writes a new lake, or set LARDER_DEPOT to another depot.`
  }
}

/** A file for the lake cannot be read or written on this machine. */
class LakeUnwritable extends Schema.TaggedError<LakeUnwritable>()("LakeUnwritable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.file} cannot be used: ${reason}.${isDiskFull(reason) ? " The disk is full: make room." : ""}`
  }
}

export const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new LakeUnwritable({ file, cause }) })

/** A state of the lake: its newest generation, and the catalogue of that generation. */
const State = Schema.Struct({
  /** Number of the state, counted from 1. */
  place: Schema.Int,
  number: Schema.Int,
  /** The id of the manifest. */
  id: Schema.String,
  catalogue: ObjectId,
  written_by: Schema.String,
  /** Random. It shows a process whether it put the state itself, or a faster one did. */
  nonce: Schema.String
})
export type State = typeof State.Type
const stateText = Schema.fromJsonString(State)
const decodeState = Schema.decodeUnknownOption(stateText)
export const encodeState = Schema.encodeSync(stateText)

/** Undefined if the state has been removed. */
export const readState = Effect.fnUntraced(function* (depot: Depot, name: string) {
  const text = yield* depot.text(name)
  if (Option.isNone(text)) return undefined
  const state = decodeState(text.value)
  if (Option.isSome(state)) return state.value
  return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which is damaged or not Larder's` })
})

/** The newest state; undefined if there is no lake yet. */
export const newestState = Effect.fnUntraced(function* (depot: Depot) {
  for (;;) {
    const name = (yield* depot.list(statesFolder)).at(-1)
    if (name === undefined) return undefined
    const state = yield* readState(depot, name)
    if (state !== undefined) return state // otherwise another machine has put a newer one meanwhile, and removed this
  }
})

/** Fails if the depot has files of another lake. A first run that was killed may have left files of tables. */
export const requireNone = Effect.fnUntraced(function* (depot: Depot) {
  const found = [...(yield* depot.dated("lake/")).keys()]
  const foreign = found.find(
    (name) => !/^lake\/(data\/[^/]+\/[^/]+|catalogues)\/[0-9a-f]{64}\.(parquet|ducklake)$/.test(name)
  )
  if (foreign === undefined) return
  return yield* new ForeignLake({
    location: depot.location,
    fault: `has files that Larder did not write, such as ${foreign}`
  })
})

/**
 * Fails if the lake has another generation under this number, or one that was never made. If the manifest is missing
 * but older than the newest one, it has been removed.
 */
export const requireSame = Effect.fnUntraced(function* (depot: Depot, { id, number }: State) {
  const manifest = yield* readManifest(depot, number)
  if (Option.isSome(manifest) && manifest.value.id === id) return
  const newest = (yield* listNumbers(depot)).at(-1) ?? 0
  if (Option.isNone(manifest) && number < newest) return
  return yield* new ForeignLake({
    location: depot.location,
    fault: `belongs to another warehouse: its ${generationId(number)} ${Option.isSome(manifest) ? "differs from this warehouse's" : "is not in this warehouse"}`
  })
})

/** Copies a catalogue to this machine, into a new file: a file that was put may be a hard link to the depot's own. */
export const fetchCatalogue = Effect.fnUntraced(function* (depot: Depot, { bytes, sha256 }: ObjectId, folder: string) {
  const name = catalogueName(sha256)
  const file = path.join(folder, `${randomUUID()}.ducklake`)
  const opened = yield* Effect.acquireRelease(
    attempt(file, () => open(file, "wx")),
    (handle) => Effect.promise(() => handle.close())
  )
  yield* Stream.runForEach(depot.bytes(name, 0), (chunk) => attempt(file, () => opened.appendFile(chunk)))
  const found = yield* objectIdOf(file)
  if (found.sha256 === sha256 && found.bytes === bytes) return file
  return yield* new ForeignLake({ location: depot.location, fault: `has ${name}, which is damaged` })
}, Effect.scoped)
