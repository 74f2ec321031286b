import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { openAsAnalyst, readContents, widen } from "@larder/test/support/warehouse/analyst.ts"
import { copyParts, makeEveryDataSet } from "@larder/test/support/warehouse/every-data-set.ts"
import { listFiles } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { SnapshotFailed, writeSnapshot } from "./snapshot.ts"

const published = oncePerFile(makeEveryDataSet)
const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-snapshot-" }))

describe("a snapshot", () => {
  itLive("contains everything, with all comments, and needs no other file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* aFolder
      const { layout, parts: original } = yield* published
      const parts = yield* copyParts(original, `${folder}/parts`)
      const file = `${folder}/all of it.duckdb`
      yield* writeSnapshot(file, parts)
      yield* fs.remove(`${folder}/parts`, { recursive: true })
      const contents = yield* readContents(file)
      assert.deepStrictEqual({ ...contents, tables: widen(contents.tables) }, yield* readContents(layout.catalogue))
      assert.deepStrictEqual(yield* listFiles(folder), ["all of it.duckdb"])
      const db = yield* openAsAnalyst(file)
      const [counts] = yield* db.rows(
        "select count(*)::integer as tables, count(distinct schema_name)::integer as schemas from duckdb_tables() where database_name = 'larder'"
      )
      assert.deepStrictEqual(counts, { tables: 28, schemas: 4 })
    })
  )
  itLive("keeps rows in the order of their tables, even if several threads write them", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const parts = yield* copyParts((yield* published).parts, folder)
      const foods = parts.parts.find(({ dataSet }) => dataSet.schema === "branded_food")?.file ?? ""
      yield* Effect.scoped(
        Effect.flatMap(DuckDb.readWrite(foods), (db) =>
          db.run(
            "insert into branded_food.category select 'category ' || (i * 7919 % 500000), i from range(500000) t(i)"
          )
        )
      )
      const file = `${folder}/snapshot.duckdb`
      yield* writeSnapshot(file, parts)
      const db = yield* openAsAnalyst(file)
      const [row] = yield* db.rows(`
        select count(*)::integer as rows, count(*) filter (product_count < before)::integer as out_of_order
        from (select product_count, lag(product_count) over (order by rowid) as before from branded_food.category
          where category like 'category %')`)
      assert.deepStrictEqual(row, { rows: 500_000, out_of_order: 0 })
    })
  )
  itLive("does not replace a file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* aFolder}/mine.duckdb`
      yield* fs.writeFileString(file, "mine")
      const error = yield* Effect.flip(writeSnapshot(file, (yield* published).parts))
      assert.strictEqual(
        error.message,
        `${file} already exists, and a snapshot does not replace a file. Remove it, or choose another file name.`
      )
      assert.strictEqual(yield* fs.readFileString(file), "mine")
    })
  )
  itLive("fails with advice if the folder does not exist", () =>
    Effect.gen(function* () {
      const file = `${yield* aFolder}/no/folder.duckdb`
      const error = yield* Effect.flip(writeSnapshot(file, (yield* published).parts))
      assert.instanceOf(error, SnapshotFailed)
      assert.match(
        error.message,
        /^No snapshot was written to .*no\/folder\.duckdb: .*Choose a file in an existing folder/
      )
    })
  )
  itLive("leaves no files if it fails", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const parts = yield* copyParts((yield* published).parts, `${folder}/parts`)
      yield* Effect.scoped(
        Effect.flatMap(DuckDb.readWrite(parts.ingestion), (db) =>
          db.run("alter table ingest.run alter column origin drop not null; update ingest.run set origin = null")
        )
      )
      const error = yield* Effect.flip(writeSnapshot(`${folder}/snapshot.duckdb`, parts))
      assert.match(error.message, /NOT NULL constraint failed: run\.origin/)
      assert.deepStrictEqual(yield* listFiles(folder), ["parts"])
    })
  )
})
