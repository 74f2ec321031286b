import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { publishLabels } from "@larder/test/support/warehouse/label-rows.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { openServedFoods } from "./served-foods.ts"

const withFoods = copyPerTest(Effect.tap(aLayout, (layout) => publishLabels(layout, [{ fdc_id: 1 }, { fdc_id: 2 }])))

/** Without the folder of links. A run makes it when it publishes, and a server makes it again if it is missing. */
const withoutLinks = Effect.tap(withFoods, ({ sidecars }) =>
  FileSystem.FileSystem.use((fs) => fs.remove(sidecars, { recursive: true }))
)

const describeFoods = Effect.fnUntraced(function* (layout: Layout) {
  const entry = (yield* requireNewest(layout.depot)).data_sets["branded-foods"]
  if (entry === undefined) return yield* Effect.die("labels were published")
  const db = yield* DuckDb.readOnly(layout.dataSetFile("branded-foods"))
  return {
    entry,
    folder: join(layout.sidecars, entry.parts[0]?.sha256 ?? ""),
    open: openServedFoods(layout, entry, db)
  }
})
const ids = [1, 2]

describe("the files of branded foods", () => {
  itLive("are the published parts under their own names, without a copy", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withoutLinks
      const { entry, folder, open } = yield* describeFoods(layout)
      const foods = yield* open
      for (const id of ids) assert.strictEqual(JSON.parse(foods.record(id) ?? "").fdc_id, id)
      const [, ...sidecars] = entry.parts
      assert.isAbove(sidecars.length, 5)
      for (const { name, sha256 } of sidecars) {
        assert.strictEqual(statSync(join(folder, name)).ino, statSync(layout.objectFile(sha256)).ino)
      }
      assert.deepStrictEqual(logs, [])
    })
  )
  itLive("are made again only once if they are missing, even if opened concurrently, and are read-only", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withoutLinks
      const { entry, folder, open } = yield* describeFoods(layout)
      const [, ...sidecars] = entry.parts
      for (const { sha256 } of sidecars) yield* fs.remove(layout.objectFile(sha256), { force: true }) // two are empty, so they are one object
      const opened = yield* Effect.all([open, open, open], { concurrency: "unbounded" })
      for (const foods of opened) {
        const page = yield* foods.search({}, undefined, 10)
        assert.strictEqual(page.records.length, 2)
      }
      assert.strictEqual(logs.filter((log) => log.includes("They are written again")).length, 1)
      const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)
      assert.deepStrictEqual([...new Set(modes)], [0o444])
    })
  )
  itLive("are written again only once if any byte of a large one was changed", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const long = { ingredients: "repeat('WATER' || fdc_id, 200)" }
      yield* publishLabels(layout, [{ fdc_id: 1, up_to: 1_000, set: long }])
      const { folder, open } = yield* describeFoods(layout)
      const file = join(folder, "ingredients.texts")
      const published = readFileSync(file)
      const changed = Buffer.from(published)
      changed[7_000] = (changed[7_000] ?? 0) ^ 1 // between the pieces that are compared when it opens
      chmodSync(file, 0o644)
      writeFileSync(file, changed)
      for (let opened = 0; opened < 2; opened++) {
        yield* open
        assert.isTrue(readFileSync(file).equals(published))
        assert.strictEqual(logs.filter((log) => log.includes("They are written again")).length, 1)
      }
    })
  )
  itLive("are written again if one of them is damaged", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withoutLinks
      const { entry, open } = yield* describeFoods(layout)
      const [, ...sidecars] = entry.parts
      const [largest] = sidecars.toSorted((a, b) => b.bytes - a.bytes)
      const file = layout.objectFile(largest?.sha256 ?? "")
      yield* fs.chmod(file, 0o644)
      yield* fs.truncate(file, 10)
      const foods = yield* open
      for (const id of ids) assert.strictEqual(JSON.parse(foods.record(id) ?? "").fdc_id, id)
      assert.strictEqual(logs.filter((log) => log.includes("They are written again")).length, 1)
    })
  )
})
