import { rmSync, statSync, symlinkSync, unlinkSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import {
  type LabelRow,
  labelsAlone,
  labelsWithFiles,
  publishLabels
} from "@larder/test/support/warehouse/label-rows.ts"
import {
  aLayout,
  apples,
  aRun,
  ask,
  butter,
  files,
  pantryIn,
  publishFound,
  publishStaged
} from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem, Option } from "effect"
import { openFoods } from "../foods/open.ts"
import { stage } from "../staging.ts"
import { commodity, seriesTable } from "../tables.ts"
import type { Layout } from "./layout.ts"
import { rollback } from "./rollback.ts"

const folderOf = (layout: Layout, generation: string) => path.join(layout.dir, `${generation}.duckdb.foods`)

/** What the files of the live generation hold; `found` are those of `ids` that have a record. */
const foodsIn = (layout: Layout, ids: ReadonlyArray<number> = []) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { current, foods, record } = yield* openFoods(`${yield* fs.realPath(layout.link)}.foods`)
      return { foods, current, found: ids.filter((id) => record(id) !== undefined) }
    })
  )

const publishWithFiles = (layout: Layout, labels: ReadonlyArray<LabelRow>) =>
  publishLabels(layout, labels, labelsWithFiles)

describe("files that a generation carries", () => {
  itWorks("are made from its own labels, read-only, and exist before it is live", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishWithFiles(layout, [{ fdc_id: 1 }, { fdc_id: 2 }])
      assert.deepStrictEqual(yield* files(layout.dir), [
        ".publish.lock",
        "larder-000001.duckdb",
        "larder-000001.duckdb.foods",
        "larder.duckdb"
      ])
      assert.strictEqual(statSync(path.join(folderOf(layout, "larder-000001"), "manifest.json")).mode & 0o222, 0)
      const { current, foods } = yield* foodsIn(layout)
      assert.deepStrictEqual([foods, current], [2, 2])
    })
  )
  itWorks("are shared with the generations of another data set, follow a rollback, and are deleted with theirs", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishWithFiles(layout, [{ fdc_id: 1 }])
      yield* publishFound(layout, { prices: [apples] })
      const records = (generation: string) => statSync(path.join(folderOf(layout, generation), "records.tsv"))
      assert.strictEqual(records("larder-000002").ino, records("larder-000001").ino)
      assert.strictEqual((yield* foodsIn(layout)).foods, 1)
      for (const item of ["b", "c"]) yield* publishFound(layout, { prices: [{ item }] })
      for (const fdc_id of [5, 6]) yield* publishWithFiles(layout, [{ fdc_id }])
      assert.deepStrictEqual(
        (yield* files(layout.dir)).filter((name) => name.endsWith(".foods")),
        [2, 3, 4, 5, 6].map((number) => `larder-00000${number}.duckdb.foods`)
      )
      yield* rollback(layout, Option.none())
      assert.deepStrictEqual(yield* foodsIn(layout, [5, 6]), { foods: 2, current: 2, found: [5] })
    })
  )
  itWorks("are removed by the next run when a killed run left them without a database", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishWithFiles(layout, [{ fdc_id: 1 }])
      yield* publishWithFiles(layout, [{ fdc_id: 2 }])
      rmSync(path.join(layout.dir, "larder-000002.duckdb"), { force: true }) // as if it had ended between the renames
      unlinkSync(layout.link)
      symlinkSync("larder-000001.duckdb", layout.link)
      yield* publishWithFiles(layout, [{ fdc_id: 3 }])
      assert.deepStrictEqual(yield* foodsIn(layout, [1, 2, 3]), { foods: 2, current: 2, found: [1, 3] })
    })
  )
})

describe("a first publication of many rows", () => {
  itWorks("keeps what other data sets published before, with their runs", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const other = pantryIn("cellar")
      yield* publishFound(layout, { prices: [apples] }, { of: other })
      yield* publishLabels(layout, [{ fdc_id: 1, up_to: 20_000 }], labelsAlone)
      assert.deepStrictEqual(
        yield* ask(
          layout,
          `select (select count(*)::integer from cellar.price) as prices, (select count(*)::integer from branded_food.food) as labels,
             (select count(*)::integer from ingest.run) as runs`
        ),
        [{ prices: 1, labels: 20_000, runs: 2 }]
      )
    })
  )
  itWorks("copies known data sets into the larger file, comments included", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const run = aRun({ pipeline: "commodities" })
      const { file } = yield* stage(layout, run, commodity, (staging) => staging.add(seriesTable, [butter]))
      yield* publishStaged(layout, commodity, file, run)
      const ingredients = "md5(fdc_id::varchar)"
      yield* publishLabels(layout, [{ fdc_id: 1, up_to: 60_000, set: { ingredients } }], labelsAlone)
      const [row] = yield* ask(
        layout,
        `select (select count(*)::integer from commodity.series) as series,
           (select count(*)::integer from ingest.run) as runs,
           (select count(*)::integer from duckdb_tables() where comment is null) as silent`
      )
      assert.deepStrictEqual(row, { series: 1, runs: 2, silent: 0 })
    })
  )
})
