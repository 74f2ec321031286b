/** A read that finds nothing new changes no part of a data set, and is recorded only in `ingest`. */
import { readdirSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { inject } from "vitest"
import { ingestLive } from "../support/pipelines/live-runs.ts"
import { startStores } from "../support/pipelines/store-rounds.ts"
import { run } from "../support/programs.ts"
import { editRunRecords } from "../support/warehouse/edit-published.ts"
import { copyForTest, makeTestFolder, newestManifest } from "./ingesting.ts"
import { rowsOf } from "./storefronts.ts"

const reads = `
  select domain, count(*)::integer as reads from ingest.store_read join storefront.store using (store_id)
  group by domain order by domain`

const measureFolder = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const found = statSync(path.join(folder, name))
    return sum + (found.isFile() ? found.size : 0)
  }, 0)

describe("the bundled stores, read a second time in full", () => {
  it("change no part of any data set, and each store has a second read", async () => {
    const home = copyForTest(inject("sampleHome"))
    const before = newestManifest(home).data_sets
    const firstReads = await rowsOf(home, reads)
    const parts = measureFolder(path.join(home, "warehouse/objects"))
    // payloads that an earlier mapping read are read again
    await editRunRecords(home, "update ingest.raw_file set mapping_sha256 = 'of an earlier version'")
    const { code, stderr } = await run("larder-ingest", ["storefronts"], { LARDER_HOME: home })
    assert.strictEqual(code, 0, stderr)
    const second = `
      select pipeline, rows_read > 0 and rows_loaded = 0 and outcome = 'unchanged' as is_same
      from ingest.run order by run_id desc limit 1`
    assert.deepStrictEqual(await rowsOf(home, second), [{ pipeline: "storefronts", is_same: true }])
    assert.isBelow(measureFolder(path.join(home, "warehouse/objects")) - parts, 100_000)
    assert.deepStrictEqual(newestManifest(home).data_sets, before)
    assert.isAbove(firstReads.length, 1)
    assert.deepStrictEqual(
      await rowsOf(home, reads),
      firstReads.map((row) => ({ ...row, reads: 2 }))
    )
  })
})

describe("stores that have not changed", () => {
  it.live("keep every row when they respond with 304 and when they do not respond, and each read is recorded", () =>
    Effect.gen(function* () {
      const home = makeTestFolder()
      const file = path.join(home, "stores.json")
      const ingest = (day: number) =>
        Effect.promise(() =>
          ingestLive(storefronts, {
            home,
            stores: file,
            environment: { LARDER_PRIVATE_HOSTS: "127.0.0.1" },
            ahead: `${day} days`
          })
        )
      const readTwice = Effect.scoped(
        Effect.gen(function* () {
          const stores = yield* startStores(5)
          writeFileSync(file, JSON.stringify(stores.list))
          const first = yield* ingest(0)
          assert.strictEqual(first.run?.outcome, "published", first.problem)
          const known = newestManifest(home).data_sets
          stores.takeTraffic()
          const second = yield* ingest(10)
          assert.deepStrictEqual([second.run?.outcome, second.run?.rows_loaded], ["unchanged", 0], second.problem)
          assert.isAbove(stores.takeTraffic().conditional, 10)
          return known
        })
      )
      const known = yield* readTwice
      assert.deepStrictEqual(newestManifest(home).data_sets, known)

      const third = yield* ingest(20)
      assert.strictEqual(third.run?.rows_loaded, 0, third.problem)
      assert.deepStrictEqual(newestManifest(home).data_sets, known)
      const status = `
        select fetch_status, read_at > fetched_at as failed_since, count(*)::integer as stores
        from storefront.store_status group by all`
      assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(home, status)), [
        { fetch_status: "failed", failed_since: true, stores: 5 }
      ])
      const all = yield* Effect.promise(() => rowsOf(home, reads))
      assert.deepStrictEqual(
        all.map((row) => row.reads),
        Array(5).fill(3)
      )
    })
  )
})
