/** The page of rejected rows, over the bundled samples and additional rejects. */
import { assert, layer } from "@effect/vitest"
import { DataRead } from "@larder/serve/console"
import { Effect } from "effect"
import { failedRun, layerSamplesWithRejects, readBody, rejectedRows } from "./data-console.ts"

layer(layerSamplesWithRejects, { excludeTestServices: true })("rejects over samples and a failed run", (it) => {
  it.effect("lists all 60 rejects of a run, each once over all pages", () =>
    Effect.gen(function* () {
      const { rejects } = yield* DataRead
      const run = { pipeline: "storefronts", run_id: "20200101T000000000Z-storefronts-000001", limit: 25 }
      const positions: Array<number> = []
      let before: string | undefined
      for (let hasMore = true; hasMore; ) {
        const page = yield* rejects({ ...run, before })
        positions.push(...page.rows.map(({ position }) => position))
        before = page.rows.at(-1)?.page_cursor
        hasMore = page.last !== undefined
      }
      assert.deepStrictEqual(
        positions,
        Array.from({ length: rejectedRows }, (_, index) => rejectedRows - index)
      )
    })
  )
  it.effect("escapes a row with HTML, and shows only its beginning", () =>
    Effect.gen(function* () {
      const page = yield* readBody(`/data/rejects?reason=${encodeURIComponent("title: is <b>markup</b>")}`)
      assert.include(page, "&lt;script&gt;alert(1)&lt;/script&gt;")
      assert.notInclude(page, "<script>")
      assert.notInclude(page, "<b>markup")
      assert.notInclude(page, "x".repeat(1000))
      assert.include(page, "1,025 characters")
    })
  )
  it.effect("counts rejects by reason", () =>
    Effect.gen(function* () {
      const { reasons } = yield* DataRead
      const reason = "price: is not a number"
      const price = { pipeline: "storefronts", reason, example: reason }
      const pipeline = "storefronts"
      assert.deepInclude(yield* reasons({ pipeline }), { ...price, feeds: 3, rejects: 59 })
      assert.deepStrictEqual(yield* reasons({ pipeline, feed: "shop-1" }), [{ ...price, feeds: 1, rejects: 20 }])
      assert.deepStrictEqual(yield* reasons({ pipeline, run_id: failedRun.run_id }), [])
    })
  )
  it.effect("groups rejects whose reasons differ only in values, and finds the same number by that reason", () =>
    Effect.gen(function* () {
      const { reasons, rejects } = yield* DataRead
      const pipeline = "commodities"
      const reason = "close_price is …, which is no price"
      const example = 'close_price is "1.10x", which is no price'
      assert.deepStrictEqual(yield* reasons({ pipeline }), [{ pipeline, reason, example, feeds: 1, rejects: 30 }])
      const found = yield* rejects({ pipeline, reason, limit: 100 })
      assert.deepStrictEqual([...new Set(found.rows.map((row) => row.feed))], ["gov-mars/1603"])
      assert.strictEqual(found.rows.length, 30)
      const none = yield* rejects({ pipeline, reason: "fdc_id: is empty", limit: 100 })
      assert.deepStrictEqual(none.rows, [])
      const page = yield* readBody("/data/rejects?pipeline=commodities")
      assert.include(page, "such as: close_price is &quot;1.10x&quot;, which is no price")
    })
  )
  it.effect("shows a row as it was read, with one line per field and every digit", () =>
    Effect.gen(function* () {
      const page = yield* readBody("/data/rejects?feed=gov-mars/1603")
      assert.include(page, "Row as read")
      const row = '{"commodity":"Butter, \\"AA\\"",\n"close_price":1.5000}'
      assert.include(page, row.replaceAll('"', "&quot;"))
    })
  )
  it.effect(
    "offers feeds with rejects as a filter, and shows the chosen reason and run with a link to all rejects",
    () =>
      Effect.gen(function* () {
        const page = yield* readBody(`/data/rejects?pipeline=storefronts&run=${failedRun.run_id}&reason=price:+is+low`)
        const [, feeds = ""] = /<select id="feed"(.*?)<\/select>/s.exec(page) ?? []
        assert.deepStrictEqual(
          [...feeds.matchAll(/<option value="([^"]*)"/g)].map(([, feed]) => feed),
          ["", "shop-0", "shop-1", "shop-2", "store/orchard-pantry.example"]
        )
        assert.include(page, "<q>price: is low</q>")
        assert.include(page, `<input type="hidden" name="run" value="${failedRun.run_id}">`)
        assert.include(page, '<a href="/data/rejects?pipeline=storefronts">Show all</a>')
        assert.include(page, "No such rejects")
      })
  )
  it.effect("counts the rejects of a feed including its files, and finds the same number by feed", () =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const { rows } = yield* data.feeds({ limit: 1000 })
      const counted = rows.flatMap(({ feed, pipeline, rejects }) => (rejects > 0 ? [{ feed, pipeline, rejects }] : []))
      assert.deepInclude(counted, { feed: "gov-fdc/csv", pipeline: "branded-foods", rejects: 1 })
      // rejected after its payloads had been read
      assert.deepInclude(counted, { feed: "store/orchard-pantry.example", pipeline: "storefronts", rejects: 1 })
      for (const { feed, pipeline, rejects } of counted) {
        const found = yield* data.rejects({ feed, pipeline, limit: 1000 })
        assert.strictEqual(found.rows.length, rejects, feed)
      }
      const page = yield* readBody("/data/rejects?pipeline=branded-foods&feed=gov-fdc/csv")
      assert.include(page, "gov-fdc/csv/food.csv, row 7")
      assert.include(page, "20200101T000000000Z-branded-foods-000001")
    })
  )
})
