/** A folder with generations whose link leads to none of them: nothing is taken for an empty warehouse, and one command repairs it. */
import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import { aLayout, ask, files, publishFound } from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem, Option } from "effect"
import { currentFile, type Layout, NoLiveGeneration, NoWarehouse, requireCurrentFile } from "./layout.ts"
import { watchLive } from "./live.ts"
import { fromLive } from "./previous.ts"
import { listGenerations, rollback } from "./rollback.ts"

const publishDay = (layout: Layout, day: number) => publishFound(layout, { deliveries: [{ item: `day ${day}` }] })
const publishDays = (...days: ReadonlyArray<number>) =>
  copied(
    Effect.gen(function* () {
      const layout = yield* aLayout
      for (const day of days) yield* publishDay(layout, day)
      return layout
    })
  )
const threeDays = publishDays(1, 2, 3)
const items = (layout: Layout) =>
  Effect.map(ask(layout, "select item from pantry.delivery order by item"), (rows) => rows.map(({ item }) => item))
const kept = (layout: Layout) =>
  Effect.map(listGenerations(layout), (list) =>
    list.map(({ generation, live }) => generation.replace("larder-00000", "") + (live ? "*" : ""))
  )
const to = (layout: Layout, wanted: string) => rollback(layout, Option.some(wanted))

type Put = (fs: FileSystem.FileSystem, layout: Layout) => Effect.Effect<void, unknown>
/** What is in the place of the link, and what a refusal says of it. */
const faults: ReadonlyArray<readonly [string, string, Put]> = [
  ["is gone", "is missing", () => Effect.void],
  [
    "leads to a file that is gone",
    "leads to \\S+/warehouse/larder-000009\\.duckdb, which is not there",
    (fs, layout) => fs.symlink("larder-000009.duckdb", layout.link)
  ],
  [
    "leads to a file elsewhere",
    "leads to \\S+/copy\\.duckdb, which is none of them",
    (fs, layout) =>
      Effect.andThen(
        fs.copyFile(`${layout.dir}/larder-000003.duckdb`, `${layout.home}/copy.duckdb`),
        fs.symlink(`${layout.home}/copy.duckdb`, layout.link)
      )
  ],
  [
    "is a file that is no generation",
    "is a file and no link",
    (fs, layout) => fs.writeFileString(layout.link, "something else")
  ],
  ["is a folder", "is a folder and no link", (fs, layout) => fs.makeDirectory(layout.link)],
  [
    "is a copy of a generation",
    "is a file and no link",
    (fs, layout) => fs.copyFile(`${layout.dir}/larder-000003.duckdb`, layout.link)
  ]
]
const advice =
  "but generations are kept beside it: larder-000001, larder-000002, larder-000003\\. Nothing was changed\\. Make one of them live with: npx larder-ingest rollback --to 3$"

describe("a warehouse whose link", () => {
  for (const [what, fault, put] of faults) {
    itWorks(`${what} is refused by runs and servers, and a rollback to a generation repairs it`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* threeDays
        yield* fs.remove(layout.link)
        yield* put(fs, layout)
        const before = yield* files(layout.dir)
        const error = yield* Effect.flip(publishDay(layout, 4))
        assert.instanceOf(error, NoLiveGeneration)
        assert.match(error.message, new RegExp(`^\\S+/larder\\.duckdb ${fault}, ${advice}`))
        const nothing = () => Effect.succeed(1)
        assert.instanceOf(yield* Effect.flip(watchLive(layout, nothing)), NoLiveGeneration)
        const table = { schema: "pantry", name: "price" }
        assert.instanceOf(yield* Effect.flip(fromLive(layout, table, 0, nothing)), NoLiveGeneration)
        assert.instanceOf(yield* Effect.flip(rollback(layout, Option.none())), NoLiveGeneration)
        assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3"])
        assert.deepStrictEqual(yield* files(layout.dir), before)

        assert.strictEqual(yield* to(layout, "2"), "larder-000002")
        assert.deepStrictEqual(yield* kept(layout), ["1", "2*", "3"])
        yield* publishDay(layout, 4)
        assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2", "day 4"])
        assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "4*"])
      })
    )
  }
  itWorks("leads to the only generation, which is gone, is not taken for an empty one", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.makeDirectory(layout.dir, { recursive: true })
      yield* fs.symlink("larder-000001.duckdb", layout.link)
      assert.match(
        (yield* Effect.flip(publishDay(layout, 1))).message,
        /leads to \S+larder-000001\.duckdb, which is not there, and no generation is kept beside it\. Nothing was changed\. Put the warehouse file back; or remove what is there, and the next run reads everything anew\.$/
      )
      yield* fs.remove(layout.link)
      assert.strictEqual((yield* publishDay(layout, 1)).run.generation, "larder-000001")
    })
  )
  itWorks("was a file keeps that file beside the new link after a rollback", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* threeDays
      yield* fs.remove(layout.link)
      yield* fs.writeFileString(layout.link, "not ours")
      yield* to(layout, "3")
      yield* publishDay(layout, 4)
      const [aside = ""] = (yield* files(layout.dir)).filter((name) => name.startsWith("larder.duckdb."))
      assert.strictEqual(yield* fs.readFileString(`${layout.dir}/${aside}`), "not ours")
    })
  )
  for (const [what, put, message] of [
    [
      "is a folder",
      (fs, layout) => fs.makeDirectory(layout.link),
      /larder\.duckdb is a folder and no link, and no generation is kept beside it\. .*or remove what is there/
    ],
    [
      "is a file that is no generation",
      (fs, layout) => fs.writeFileString(layout.link, "not ours"),
      /larder\.duckdb cannot be opened as a DuckDB database: .*Restore it from a backup; or remove it/
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Put, RegExp]>) {
    itWorks(`${what}, with no generation beside it, is not told to go back`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* aLayout
        yield* fs.makeDirectory(layout.dir, { recursive: true })
        yield* put(fs, layout)
        assert.match((yield* Effect.flip(publishDay(layout, 1))).message, message)
      })
    )
  }
  itWorks("is in a folder that is a link itself is followed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* threeDays
      yield* fs.rename(layout.dir, `${layout.home}/elsewhere`)
      yield* fs.symlink("elsewhere", layout.dir)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3*"])
      yield* publishDay(layout, 4)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "4*"])
    })
  )
})

describe("a first run that was killed before its generation went live", () => {
  const killed = Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const layout = yield* publishDays(1)
    yield* fs.makeDirectory(`${layout.dir}/larder-000001.duckdb.foods`)
    yield* fs.rename(layout.link, layout.nextLink)
    return layout
  })
  itWorks("leaves no warehouse, and the next run makes one without any repair", () =>
    Effect.gen(function* () {
      const layout = yield* killed
      assert.isTrue(Option.isNone(yield* currentFile(layout)))
      assert.instanceOf(yield* Effect.flip(requireCurrentFile(layout)), NoWarehouse)
      assert.deepStrictEqual(yield* kept(layout), [])
      assert.strictEqual((yield* publishDay(layout, 2)).run.generation, "larder-000001")
      assert.deepStrictEqual(yield* items(layout), ["day 2"])
      assert.deepStrictEqual(yield* files(layout.dir), [".publish.lock", "larder-000001.duckdb", "larder.duckdb"])
    })
  )
})

describe("a run that was killed before its generation went live", () => {
  itWorks("leaves the generation before it live, and the next run removes what was never live", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* threeDays
      yield* fs.symlink("larder-000002.duckdb", `${layout.dir}/link`)
      yield* fs.rename(layout.link, layout.nextLink)
      yield* fs.rename(`${layout.dir}/link`, layout.link)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2*"])
      assert.strictEqual((yield* publishDay(layout, 4)).run.generation, "larder-000003")
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 2", "day 4"])
    })
  )
})

describe("pruning", () => {
  itWorks("keeps the five newest generations that the live one was built from, and all that it was not", (logs) =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* to(layout, "larder-000001")
      for (const day of [4, 5, 6, 7]) yield* publishDay(layout, day)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "4", "5", "6", "7*"])
      yield* publishDay(layout, 8)
      assert.deepStrictEqual(yield* kept(layout), ["2", "3", "4", "5", "6", "7", "8*"])
      assert.include(logs.at(-1), "larder-000002, larder-000003")
      assert.deepStrictEqual(yield* items(layout), ["day 1", "day 4", "day 5", "day 6", "day 7", "day 8"])
    })
  )
  itWorks("takes no generation with data for those of runs that read nothing, of which the last two stay", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      for (const reason of ["a", "b", "c", "d", "e"]) {
        yield* publishFound(layout, { rejects: [reason] }, { run: { outcome: "partial" } })
      }
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "7", "8*"])
      yield* publishDay(layout, 4)
      assert.deepStrictEqual(yield* kept(layout), ["1", "2", "3", "8", "9*"])
    })
  )
})
