import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem, Schema } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Table } from "../tables/tables.ts"
import { type LakeFile, writeFiles } from "./files.ts"
import type { LakeField } from "./types.ts"

const table: Table = {
  schema: "shop",
  name: "price_change",
  record: Schema.Struct({}),
  ddl: "",
  merge: { by: "append", key: ["id"] },
  dateColumn: "seen_at"
}
const column = (id: number, name: string, type: string): LakeField => ({ id, name, type, children: [] })
const columns = [column(1, "id", "int64"), column(2, "seen_at", "timestamp")]

/** Changes from January on, 300,000 in each month. */
const selectChanges = (count: number) =>
  `select i as id, timestamp '2026-01-01' + interval (i // 300_000) month as seen_at from range(${count}) r(i)`

const writeRows = Effect.fnUntraced(function* (rows: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-lake-" })
  const db = yield* DuckDb.memory
  return yield* writeFiles(db, table, columns, rows, path.join(folder, "price_change"))
})
const listHashes = (files: ReadonlyArray<LakeFile>) => files.map(({ object }) => object.sha256)

describe("writing the files of a table", () => {
  itLive("writes none without rows, and one for few rows", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* writeRows(selectChanges(0)), [])
      const [file, ...others] = yield* writeRows(`${selectChanges(3)} order by i desc`)
      assert.lengthOf(others, 0)
      assert.strictEqual(file?.rows, 3)
      const statistics = file?.statistics.map(({ max, min, nulls, path: field, values }) => [
        field,
        values,
        nulls,
        min,
        max
      ])
      assert.deepStrictEqual(statistics, [
        ["id", "3", "0", "0", "2"],
        ["seen_at", "3", "0", "2026-01-01 00:00:00", "2026-01-01 00:00:00"]
      ])
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
        before.map(({ rows }) => rows),
        [300_000, 300_000, 300_000, 100_001]
      )
      const after = listHashes(yield* writeRows(selectChanges(1_100_000)))
      assert.deepStrictEqual(after.slice(0, 3), listHashes(before).slice(0, 3))
      assert.notInclude(listHashes(before), after[3])
    })
  )
})
