import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { type LakeFile, writeFiles } from "./files.ts"
import type { LakeTable } from "./generation-tables.ts"

const table: LakeTable = {
  schema: "shop",
  name: "price_change",
  key: ["id"],
  dateColumn: "seen_at",
  columns: [
    { name: "id", type: "BIGINT", comment: null },
    { name: "seen_at", type: "TIMESTAMP", comment: null }
  ],
  comment: null,
  part: "part"
}

/** Changes from January on, 300,000 in each month. */
const selectChanges = (count: number) =>
  `select i as id, timestamp '2026-01-01' + interval (i // 300_000) month as seen_at from range(${count}) r(i)`

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-lake-" }))
const writeRows = Effect.fnUntraced(function* (rows: string, inFolder?: string) {
  const folder = inFolder ?? (yield* makeFolder)
  const db = yield* DuckDb.memory
  yield* db.run(`create schema shop; create view shop.price_change as ${rows}`)
  return yield* writeFiles(db, table, path.join(folder, "price_change"))
})
const listHashes = (files: ReadonlyArray<LakeFile>) => files.map(({ object }) => object.sha256)

describe("writing the files of a table", () => {
  itLive("writes none without rows, and one for few rows", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* writeRows(selectChanges(0)), [])
      const [file, ...others] = yield* writeRows(`${selectChanges(3)} order by i desc`)
      assert.lengthOf(others, 0)
      assert.deepStrictEqual(JSON.parse(file?.stats ?? ""), {
        numRecords: 3,
        minValues: { id: 0, seen_at: "2026-01-01T00:00:00.000" },
        maxValues: { id: 2, seen_at: "2026-01-01T00:00:00.000" },
        nullCount: { id: 0, seen_at: 0 }
      })
      assert.deepStrictEqual(
        listHashes(yield* writeRows(selectChanges(3))),
        listHashes(file === undefined ? [] : [file]),
        "the order of the rows does not matter"
      )
    })
  )
  itLive("writes one for each month of a large history, and a new one only for the month with new rows", () =>
    Effect.gen(function* () {
      const before = yield* writeRows(selectChanges(1_000_001))
      assert.deepStrictEqual(
        before.map(({ stats }) => JSON.parse(stats).numRecords),
        [300_000, 300_000, 300_000, 100_001]
      )
      const after = listHashes(yield* writeRows(selectChanges(1_100_000)))
      assert.deepStrictEqual(after.slice(0, 3), listHashes(before).slice(0, 3))
      assert.notInclude(listHashes(before), after[3])
    })
  )
  itLive("fails with the file or folder that cannot be written, and without SQL", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const target = path.join(folder, "price_change")
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(target, "")
      const noFolder = yield* Effect.flip(writeRows(selectChanges(3), folder))
      assert.match(noFolder.message, /price_change cannot be written: EEXIST/)
      yield* fs.remove(target)
      yield* fs.makeDirectory(path.join(target, "0/data_0.parquet"), { recursive: true })
      const noFile = yield* Effect.flip(writeRows(selectChanges(3), folder))
      assert.match(noFile.message, /price_change\/0 cannot be written: .*data_0/)
      assert.notInclude(noFile.message, "select")
    })
  )
})
