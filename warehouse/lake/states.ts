/**
 * Reads the states of the lake in the depot: each names a generation and its catalogue. If several machines continue
 * from the same state, the first one to store the next state wins.
 */
import { randomUUID } from "node:crypto"
import path from "node:path"
import { Effect, Option, Schema } from "effect"
import { type Depot, ObjectId } from "../depot/depot.ts"
import { fileOperation } from "../disk.ts"
import { generationId, listNumbers, readManifest } from "../generation/manifest.ts"
import { identifyFile } from "../generation/parts.ts"
import { receive } from "../generation/pull-parts.ts"
import { WarehouseProblem } from "../problem.ts"
import { catalogueName, statesFolder } from "./names.ts"

/** The lake is damaged, or was not written by this warehouse. `fault` follows the name of its folder. */
export const foreignLake = ({ location }: Depot, fault: string) =>
  new WarehouseProblem({
    problem: `${location}/lake ${fault}. It was not changed. Move that folder aside so that the next run writes a new lake, or set LARDER_DEPOT to another depot.`
  })

export const attempt = fileOperation("cannot be used", "")

const State = Schema.Struct({
  /** Number of the state, counted from 1. */
  place: Schema.Int,
  number: Schema.Int,
  /** The id of the manifest. */
  id: Schema.String,
  catalogue: ObjectId,
  written_by: Schema.String,
  /** Random. A process that reads its own nonce back has stored the state itself. */
  nonce: Schema.String
})
export type LakeState = typeof State.Type
const StateFromJson = Schema.fromJsonString(State)
const decodeState = Schema.decodeUnknownOption(StateFromJson)
export const encodeState = Schema.encodeSync(StateFromJson)

/** Undefined if the state has been removed. */
export const readLakeState = Effect.fnUntraced(function* (depot: Depot, name: string) {
  const text = yield* depot.readText(name)
  if (Option.isNone(text)) return undefined
  const state = decodeState(text.value)
  if (Option.isSome(state)) return state.value
  return yield* foreignLake(depot, `contains ${name}, which is damaged or was not written by Larder`)
})

/** The newest state; undefined if there is no lake yet. */
export const newestState = Effect.fnUntraced(function* (depot: Depot) {
  for (;;) {
    const name = (yield* depot.list(statesFolder)).at(-1)
    if (name === undefined) return undefined
    const state = yield* readLakeState(depot, name)
    if (state !== undefined) return state // otherwise another machine stored a newer one, and removed this one
  }
})

/** Fails if the depot has files of another lake. A first run that was killed may have left files of tables. */
export const requireNoOtherFiles = Effect.fnUntraced(function* (depot: Depot) {
  const foreign = [...(yield* depot.listTimes("lake/")).keys()].find(
    (name) => !/^lake\/(data\/[^/]+\/[^/]+|catalogues)\/[0-9a-f]{64}\.(parquet|ducklake)$/.test(name)
  )
  if (foreign === undefined) return
  return yield* foreignLake(depot, `contains files that Larder did not write, such as ${foreign}`)
})

/**
 * Fails if the lake has another generation under this number, or one that was never made. A missing manifest that is
 * older than the newest one was removed.
 */
export const requireOwnHistory = Effect.fnUntraced(function* (depot: Depot, { id, number }: LakeState) {
  const manifest = yield* readManifest(depot, number)
  if (Option.isSome(manifest) && manifest.value.id === id) return
  const newest = (yield* listNumbers(depot)).at(-1) ?? 0
  if (Option.isNone(manifest) && number < newest) return
  const difference = Option.isSome(manifest) ? "differs from this warehouse's" : "is not in this warehouse"
  return yield* foreignLake(depot, `belongs to another warehouse: its ${generationId(number)} ${difference}`)
})

/** Copies a catalogue into a new file on this machine: a stored file may be a hard link to the depot's own. */
export const fetchCatalogue = Effect.fnUntraced(function* (depot: Depot, { bytes, sha256 }: ObjectId, folder: string) {
  const name = catalogueName(sha256)
  const file = path.join(folder, `${randomUUID()}.ducklake`)
  yield* receive(depot, name, bytes, file)
  const object = yield* identifyFile(file)
  if (object.sha256 === sha256 && object.bytes === bytes) return file
  return yield* foreignLake(depot, `contains ${name}, which is damaged`)
})
