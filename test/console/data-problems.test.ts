/** What the pages about the warehouse say when data is late, left out or rolled back. */
import { assert, layer } from "@effect/vitest"
import { DataRead } from "@larder/serve/console"
import { type Layout, recordFailedRun, rollback } from "@larder/warehouse"
import { Effect, Option } from "effect"
import { aLayout, aRun } from "../support/warehouse/example-data-set.ts"
import { publishReads } from "../support/warehouse/store-reads.ts"
import { layerData, layerSamples, readBody } from "./data-console.ts"

/** One store was read in January 2026, and is late. */
const lateStore = Effect.tap(aLayout, (layout) => publishReads(layout, { day: 2, store: "platform_store_old" }))

layer(layerData(lateStore), { excludeTestServices: true })("over a store that is late", (it) => {
  it.effect("counts on the state page what is late, and names it with the reason", () =>
    Effect.gen(function* () {
      const state = yield* readBody("/data")
      assert.include(state, "1 store of Storefronts is late.")
      assert.match(state, /pipeline=storefronts&amp;state=late">1<\/a> <span[^>]*>late</)
      const page = yield* readBody("/data/freshness")
      assert.match(
        page,
        />platform_store_old\.example\.com<.*>late<.*The next read is expected by 2026-01-03 10:00 UTC/s
      )
      assert.match(page, />commodities<.*>not loaded<.*Its pipeline has not published yet/s)
      assert.notInclude(yield* readBody("/data/freshness?state=late"), "not published yet")
      assert.include(yield* readBody("/data/freshness?state=ended"), "Nothing is in this state")
    })
  )
})

const runInPart = aRun({
  run_id: "20991030T100000000Z-commodities-9a47a1",
  pipeline: "commodities",
  outcome: "partial",
  started_at: "2099-10-30T10:00:00.000Z"
})
const leaveOut = (layout: Layout) =>
  recordFailedRun(layout, {
    run: runInPart,
    checks: [],
    leftOut: [
      {
        feed: "gov-mars/1603",
        kind: "partial",
        reason: `21 of 40 rows were rejected, because close_price is "<script>alert(1)</script>".\nsecond line`
      },
      { feed: 'gov-mpr/<img src="x">', kind: "unreachable", reason: "no response" }
    ]
  })

layer(layerSamples(leaveOut), { excludeTestServices: true })("over a run that left out feeds", (it) => {
  it.effect("names the feeds that are left out of the live data, with the reason and the run", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/feeds")
      const [, table = ""] = /Feeds that are left out(.*?)<\/table>/s.exec(page) ?? []
      assert.match(table, />gov-mars\/1603<.*>in part<.*>gov-mpr\/&lt;img src=&quot;x&quot;&gt;<.*>not reached</s)
      assert.include(
        table,
        "21 of 40 rows were rejected, because close_price is &quot;&lt;script&gt;alert(1)&lt;/script&gt;"
      )
      assert.notInclude(table, "second line")
      assert.strictEqual(table.split(`href="/data/runs/${runInPart.run_id}"`).length, 3)
      assert.include(
        yield* readBody("/data"),
        '2 feeds of Commodities are left out of the live data, all or in part. <a href="/data/feeds">'
      )
    })
  )
})

const rollBack = (layout: Layout) =>
  Effect.gen(function* () {
    const none = { to: Option.none(), only: Option.none(), note: Option.none() }
    yield* rollback(layout, { ...none, only: Option.some("commodities"), note: Option.some("wrong <unit>") })
    yield* rollback(layout, { ...none, to: Option.some(2) })
  })

layer(layerSamples(rollBack), { excludeTestServices: true })("over data sets that were rolled back", (it) => {
  it.effect("shows which generations were rolled back, by which generation, and why", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data")
      const [, table = ""] = /Kept generations, newest first(.*?)<\/table>/s.exec(page) ?? []
      const text = (cell = "") =>
        cell
          .replaceAll(/^[^>]*>|<[^>]+>/g, " ")
          .replaceAll(/\s+/g, " ")
          .trim()
      const rows = table.split("<tr").map((row) =>
        row
          .split(/<t[dh]/)
          .slice(1)
          .map(text)
      )
      assert.deepStrictEqual(
        rows
          .filter(([generation]) => generation?.startsWith("larder-"))
          .map(([generation, , what, added]) => [generation, what?.replace(/by \S+@\S+, Larder .+$/, "by …"), added]),
        [
          ["larder-000005", "All data sets, back to larder-000002 by …", ""],
          [
            "larder-000004 rolled back by larder-000005",
            "Commodities, back to before its first run wrong &lt;unit&gt; by …",
            ""
          ],
          ["larder-000003 rolled back by larder-000005", "Storefronts", "233"],
          ["larder-000002 live", "Branded foods", "49,918"],
          ["larder-000001 live", "Commodities", "40,188"]
        ]
      )
    })
  )
  it.effect("reports each data set as loaded or not loaded", () =>
    Effect.gen(function* () {
      const { dataSets, generation } = yield* DataRead
      assert.deepStrictEqual(
        (yield* dataSets).map(({ isLoaded, pipeline }) => [pipeline, isLoaded]),
        [
          ["commodities", true],
          ["branded-foods", true],
          ["storefronts", false]
        ]
      )
      assert.strictEqual(generation(), "larder-000007", "two runs failed since")
    })
  )
})
