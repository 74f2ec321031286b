import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import { aLayout, ask, publishFound } from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem, Option } from "effect"
import { NotADatabase } from "../duckdb.ts"
import { currentFile, type Layout, NoWarehouse, requireCurrentFile } from "./layout.ts"
import { listGenerations, rollback } from "./rollback.ts"

const back = (layout: Layout) => rollback(layout, Option.none())
const to = (layout: Layout, generation: string) => rollback(layout, Option.some(generation))
const publishDay = (layout: Layout, day: number) => publishFound(layout, { deliveries: [{ item: `day ${day}` }] })
const items = (layout: Layout) =>
  Effect.map(ask(layout, "select item from pantry.delivery order by item"), (rows) => rows.map(({ item }) => item))
const kept = (layout: Layout) =>
  Effect.map(listGenerations(layout), (list) =>
    list.map(({ generation, live }) => generation.replace("larder-00000", "") + (live ? "*" : ""))
  )

const threeDays = copied(
  Effect.gen(function* () {
    const layout = yield* aLayout
    for (const day of [1, 2, 3]) yield* publishDay(layout, day)
    return layout
  })
)

describe("rollback", () => {
  itWorks("goes to the generation before the live one, step by step, until there is none", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      assert.strictEqual(yield* back(layout), "larder-000002")
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2"])
      assert.strictEqual(yield* back(layout), "larder-000001")
      assert.deepStrictEqual(yield* kept(layout), ["1*", "2", "3"])
      const error = yield* Effect.flip(back(layout))
      assert.strictEqual(
        error.message,
        "There is no generation before the live one. Kept are: larder-000001, larder-000002, larder-000003."
      )
    })
  )
  itWorks("goes to a generation by its id or its number, also forwards", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      assert.strictEqual(yield* to(layout, "larder-000001"), "larder-000001")
      assert.deepStrictEqual(yield* items(layout), ["day 1"])
      yield* to(layout, "3")
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2", "day 3"])
    })
  )
  itWorks("changes nothing for an unknown name, and lists what is kept", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      for (const name of ["larder-000009", "larder-000001.duckdb", "../larder-000001", ""]) {
        const error = yield* Effect.flip(to(layout, name))
        assert.strictEqual(
          error.message,
          `There is no generation ${name}. Kept are: larder-000001, larder-000002, larder-000003.`
        )
      }
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3*"])
    })
  )
  itWorks("fails without a warehouse, and makes no folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      const error = yield* Effect.flip(back(layout))
      assert.strictEqual(error.message, "There is no generation before the live one. Kept are: none.")
      assert.deepStrictEqual(yield* fs.readDirectory(layout.home), [])
      assert.instanceOf(yield* Effect.flip(requireCurrentFile(layout)), NoWarehouse)
    })
  )
})

describe("publishing after a rollback", () => {
  itWorks("continues from there under a new number, keeps what was rolled back, and a second rollback skips it", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* back(layout)
      const { run } = yield* publishDay(layout, 4)
      assert.strictEqual(run.generation, "larder-000004")
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2", "day 4"])
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "4*"])
      assert.strictEqual(yield* back(layout), "larder-000002")
    })
  )
  itWorks("keeps the generation that was live before, however old it is", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      for (const day of [4, 5]) yield* publishDay(layout, day)
      yield* to(layout, "larder-000001")
      yield* publishDay(layout, 6)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "4", "5", "6*"])
      assert.strictEqual(yield* back(layout), "larder-000001")
    })
  )
})

describe("a live generation that is not a DuckDB database", () => {
  const damaged = (what: "another file" | "cut short") =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* threeDays
      const file = `${layout.dir}/larder-000003.duckdb`
      yield* fs.chmod(file, 0o644)
      if (what === "another file") yield* fs.writeFileString(file, "something else")
      else yield* fs.truncate(file, 20_000)
      return layout
    })
  for (const what of ["another file", "cut short"] as const) {
    itWorks(`is left alone by a run, which says how to roll back, and the rollback works (${what})`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* damaged(what)
        const before = yield* fs.readFile(`${layout.dir}/larder-000003.duckdb`)
        const error = yield* Effect.flip(publishDay(layout, 4))
        assert.match(
          error.message,
          /larder-000003\.duckdb cannot be opened as a DuckDB database: .*Go back to an earlier one with: npx larder-ingest rollback\. Nothing was published/
        )
        assert.deepStrictEqual(yield* fs.readFile(`${layout.dir}/larder-000003.duckdb`), before)
        assert.strictEqual(yield* back(layout), "larder-000002")
        assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2"])
      })
    )
  }
  itWorks("cannot be the target of a rollback", () =>
    Effect.gen(function* () {
      const layout = yield* damaged("another file")
      yield* to(layout, "larder-000001")
      assert.instanceOf(yield* Effect.flip(to(layout, "larder-000003")), NotADatabase)
      assert.deepStrictEqual(yield* kept(layout), ["1*", "2", "3"])
    })
  )
})

describe("a warehouse that was copied without its link", () => {
  itWorks("is used as a file named larder.duckdb, and the next run publishes upon it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      const original = yield* threeDays
      yield* fs.makeDirectory(layout.dir, { recursive: true })
      yield* fs.copyFile(original.link, layout.link)
      assert.isTrue(Option.isSome(yield* currentFile(layout)))
      yield* publishDay(layout, 4)
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2", "day 3", "day 4"])
      assert.strictEqual(yield* fs.readLink(layout.link), "larder-000004.duckdb") // numbers only go up
    })
  )
})
