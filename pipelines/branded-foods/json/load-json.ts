/** The JSON release: cut into chunks of lines, each read by DuckDB while the next one is cut, and every record accounted for. */
import { open } from "node:fs/promises"
import type { DuckDb, DuckDbError } from "@larder/warehouse/duckdb.ts"
import type { Staging } from "@larder/warehouse/staging.ts"
import { rejectTable } from "@larder/warehouse/tables.ts"
import { Effect, Schema } from "effect"
import type { Load, Loaded } from "../load.ts"
import { checkLines } from "../release/check-lines.ts"
import { type Chunk, cutFoods, type FoodList } from "../release/food-lines.ts"
import type { FoodReject } from "../release/food-list.ts"
import {
  beforeChunks,
  knownKeys,
  loadChunk,
  nameNutrients,
  newNutrients,
  readChunk,
  refusedInChunk,
  rejectOfChunk,
  rememberChunk
} from "./foods.ts"

/** Keys are looked at in the first records of each chunk: some in a thousand. A new key is in all of them, or of little weight. */
const looked = 262_144

const unknownKeysIn = async (file: string, unknown: Map<string, string>) => {
  const opened = await open(file)
  try {
    const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(looked), position: 0 })
    const lines = buffer.toString("utf8", 0, bytesRead).split("\n").slice(0, -1)
    for (const line of lines) {
      const food: Readonly<Record<string, unknown>> = JSON.parse(line)
      for (const [key, value] of Object.entries(food)) {
        if (!knownKeys.has(key) && !unknown.has(key)) unknown.set(key, JSON.stringify(value).slice(0, 200))
      }
    }
  } finally {
    await opened.close()
  }
}

/** Reads a chunk; where DuckDB refuses it, the lines at fault are taken out first. */
const readInto = Effect.fnUntraced(function* (db: DuckDb["Service"], chunk: Chunk) {
  const refused = (error: DuckDbError) =>
    Effect.gen(function* () {
      const { rejects } = yield* checkLines(chunk.file)
      if (rejects.length === 0) return yield* error // then it is nothing that a line is to blame for
      yield* db.run(readChunk(chunk.file))
      return rejects
    })
  return yield* db
    .run(readChunk(chunk.file))
    .pipe(Effect.as<ReadonlyArray<FoodReject>>([]), Effect.catchTag("DuckDbError", refused))
})

const Count = Schema.Struct({ rows: Schema.Int })

/** So much is cut before it is read: planning a query of this size for less costs more than running it. */
const chunkBytes = 192 << 20

/** `folder` is the run's own, for the chunks. */
export const loadJson = Effect.fnUntraced(function* (staging: Staging, load: Load, list: FoodList, folder: string) {
  const { db } = staging
  const unknown = new Map<string, string>()
  yield* db.run(beforeChunks)
  const reject = (rejects: ReadonlyArray<FoodReject>) =>
    staging.add(
      rejectTable,
      rejects.map(({ line, payload, reason }) => ({
        pipeline: "branded-foods",
        feed: load.feed,
        run_id: load.run_id,
        raw_sha256: load.raw_sha256,
        position: line,
        reason,
        payload
      }))
    )
  const counted = yield* cutFoods(list, { folder, chunkBytes }, (chunk) =>
    Effect.gen(function* () {
      yield* reject(chunk.rejects)
      if (chunk.records === 0) return
      yield* reject(yield* readInto(db, chunk))
      yield* Effect.promise(() => unknownKeysIn(chunk.file, unknown))
      yield* db.run(loadChunk(load))
      const [refused] = yield* db.all(Count, refusedInChunk)
      if (refused?.rows !== 0) yield* db.run(rejectOfChunk(load))
      yield* db.run(rememberChunk)
      const [unknownNutrients] = yield* db.all(Count, newNutrients)
      if (unknownNutrients?.rows !== 0) yield* db.run(nameNutrients(chunk.file))
      yield* load.advance(chunk.records)
    })
  )
  return {
    rows_read: counted.records + counted.rejects, // as the cutter counted them, which knows nothing of DuckDB
    rows_silent: 0,
    unknown_fields: [...unknown].map(([field, example]) => ({ field, example }))
  } satisfies Loaded as Loaded
})
