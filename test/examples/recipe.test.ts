/** The recipe that stands first in `docs/warehouse.md`, as an analyst runs it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { inject, onTestFinished } from "vitest"
import { repository } from "../support/repository.ts"

const recipe = /```sql\n([\s\S]*?)```/.exec(readFileSync(path.join(repository, "docs/warehouse.md"), "utf8"))?.[1] ?? ""

describe("the recipe for opening the warehouse", () => {
  it("finds every data set, and has queries spill into a folder of one's own, not into the warehouse", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "larder-recipe-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const warehouse = path.join(inject("sampleHome"), "warehouse")
    const own = path.join(folder, "queries")
    mkdirSync(own)
    const statements = recipe
      .replace("data/warehouse/larder.duckdb", path.join(warehouse, "larder.duckdb"))
      .replace("/tmp/larder-queries", own)
    const before = readdirSync(warehouse, { recursive: true })
    const asking = Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(statements)
      yield* db.run("set memory_limit = '64MB'")
      const counts = yield* db.rows(
        `select (select count(*) > 0 from commodity.price) as prices, (select count(*) > 0 from branded_food.food) as foods,
          (select count(*) > 0 from storefront.product) as products, (select count(*) > 0 from ingest.run) as runs`
      )
      assert.deepStrictEqual(counts, [{ prices: true, foods: true, products: true, runs: true }])
      // more than what fits into memory
      yield* db.run(
        `create temp table large as
         select fdc_id, description, hash(fdc_id, copy) as mixed from branded_food.food, range(1000) copies(copy)`
      )
      const spilled = yield* db.rows("select path from duckdb_temporary_files()")
      assert.isNotEmpty(spilled)
      for (const { path: file } of spilled) assert.strictEqual(path.dirname(String(file)), own)
    })
    await Effect.runPromise(Effect.scoped(asking))
    assert.deepStrictEqual(readdirSync(warehouse, { recursive: true }), before)
  })
})
