/** The pages about the warehouse, over the bundled samples with failed runs and rejected rows. */
import { assert, describe, it, layer } from "@effect/vitest"
import { DataRead } from "@larder/serve/console"
import { dataPages } from "@larder/serve/console/data/data.ts"
import { bytesText } from "@larder/serve/console/data/pieces.ts"
import { Effect } from "effect"
import { aLayout } from "../support/warehouse/example-data-set.ts"
import { publishReads } from "../support/warehouse/store-reads.ts"
import {
  failedRun,
  layerData,
  layerSamplesWithRejects,
  openPage,
  partialRun,
  readBody,
  readFailure
} from "./data-console.ts"

layer(layerSamplesWithRejects, { excludeTestServices: true })("over samples with rejects and a failed run", (it) => {
  describe("the state of the warehouse", () => {
    it.effect("shows how fresh each data set is, and its last run even if it published nothing", () =>
      Effect.gen(function* () {
        const { dataSets } = yield* DataRead
        const [commodities, foods, stores] = yield* dataSets
        assert.deepStrictEqual(
          [commodities, foods, stores].map((state) => [state?.pipeline, state?.isLoaded]),
          [
            ["commodities", true],
            ["branded-foods", true],
            ["storefronts", true]
          ]
        )
        assert.strictEqual(commodities?.last_run?.outcome, "checks_failed")
        assert.strictEqual(commodities?.last_success?.outcome, "unchanged")
        assert.deepStrictEqual(commodities?.contents[0], { count: 24, what: "series" })
        assert.match(commodities?.newest[0]?.date ?? "", /^2026-\d\d-\d\d$/)
        assert.strictEqual(stores?.last_run?.outcome, "partial")
        assert.strictEqual(stores?.last_success?.outcome, "unchanged")
        const page = yield* readBody("/data")
        assert.include(page, "The last run of Commodities failed")
        assert.include(page, "24 series")
        assert.notMatch(page, /\b(is|are) late\./)
        assert.match(page, /state=sample">\d+<\/a> <span[^>]*>sample</)
      })
    )
    it.effect("shows titles of pipelines and names of months", () =>
      Effect.gen(function* () {
        const page = yield* readBody("/data")
        assert.notMatch(page, />(branded-foods|storefronts|commodities)</)
        assert.include(page, '<time datetime="2026-10">October 2026</time>')
        assert.include(page, "These are rows of payloads")
      })
    )
    it.effect("shows the size of the live and of all kept generations", () =>
      Effect.gen(function* () {
        const generations = yield* (yield* DataRead).generations
        const page = yield* readBody("/data")
        const kept = generations.filter((listed) => listed.kept)
        const size = bytesText(kept.reduce((sum, { bytes }) => sum + bytes, 0))
        assert.match(page, new RegExp(`Size of the live data</dt>.*${size}`))
        assert.include(page, `${size} in 3 generations with data`)
      })
    )
    it.effect("lists the generations with data and their runs, and marks the live ones", () =>
      Effect.gen(function* () {
        const data = yield* DataRead
        const generations = yield* data.generations
        assert.deepStrictEqual(
          generations.map(({ generation, kept, live, outcome }) => [generation, outcome, live, kept]),
          [
            ["larder-000008", "partial", false, false],
            ["larder-000007", "checks_failed", false, false],
            ["larder-000006", "unchanged", false, false],
            ["larder-000005", "unchanged", false, false],
            ["larder-000004", "unchanged", false, false],
            ["larder-000003", "published", true, true],
            ["larder-000002", "published", true, true],
            ["larder-000001", "published", true, true]
          ]
        )
        const page = yield* readBody("/data")
        const [, table = ""] = /Kept generations, newest first(.*?)<\/table>/s.exec(page) ?? []
        for (const { generation, kept, made_at, run_id } of generations) {
          assert.strictEqual(table.includes(generation), kept, "runs that changed nothing are in the list of runs")
          if (kept) assert.include(table, `${run_id}"><time datetime="${made_at}"`)
        }
        assert.strictEqual(table.match(/>live</g)?.length, 3)
        assert.notInclude(table, "rolled back")
      })
    )
  })

  describe("runs", () => {
    it.effect("lists all runs, newest first, including failed ones, each once over all pages", () =>
      Effect.gen(function* () {
        const { runs } = yield* DataRead
        const whole = yield* runs({ limit: 100 })
        assert.deepStrictEqual(
          whole.rows.slice(0, 2).map(({ run_id }) => run_id),
          [partialRun.run_id, failedRun.run_id]
        )
        assert.isAtLeast(whole.rows.length, 5)
        const pages: Array<string> = []
        let before: string | undefined
        for (let hasMore = true; hasMore; ) {
          const page = yield* runs({ before, limit: 1 })
          pages.push(...page.rows.map(({ run_id }) => run_id))
          before = page.rows.at(-1)?.run_id
          hasMore = page.last !== undefined
        }
        assert.deepStrictEqual(
          pages,
          whole.rows.map(({ run_id }) => run_id)
        )
      })
    )
    it.effect("finds runs by pipeline and outcome", () =>
      Effect.gen(function* () {
        const { runs } = yield* DataRead
        const filters = { pipeline: "commodities", outcome: "checks_failed", limit: 10 }
        assert.deepStrictEqual(
          (yield* runs(filters)).rows.map(({ run_id }) => run_id),
          [failedRun.run_id]
        )
        const none = yield* readBody("/data/runs?pipeline=branded-foods&outcome=interrupted")
        assert.include(none, "No such run")
        assert.include(none, "Show all")
      })
    )
    it.effect("shows the failure of a run and the check that found it", () =>
      Effect.gen(function* () {
        const page = yield* readBody(`/data/runs/${failedRun.run_id}`, { id: failedRun.run_id })
        assert.include(page, "price_positive")
        const { title } = yield* openPage(`/data/runs/${failedRun.run_id}`, { id: failedRun.run_id })
        assert.strictEqual(title, "Run of Commodities, 31 Oct 2099, 10:00:00\u00A0UTC")
        assert.notInclude(page, "Days requested")
        assert.include(page, "2 bad rows")
        for (const name of ["New", "Nothing new"]) {
          assert.match(page, new RegExp(`<dt>${name}</dt>\\s*<dd><small>unknown</small></dd>`))
        }
        assert.strictEqual(yield* readFailure("/data/runs/none", { id: "none" }), "PageNotFound")
      })
    )
    it.effect("links to the rejects of each run, including a failed one", () =>
      Effect.gen(function* () {
        const page = yield* readBody(`/data/runs/${failedRun.run_id}`, { id: failedRun.run_id })
        assert.include(page, `<a href="/data/rejects?run=${failedRun.run_id}">4</a>`)
        const allRuns = yield* readBody("/data/runs")
        assert.include(allRuns, `/data/rejects?run=${failedRun.run_id}`)
        const { runs } = yield* DataRead
        const { rows } = yield* runs({ outcome: "published", limit: 10 })
        const kept = rows.find(({ rows_rejected }) => (rows_rejected ?? 0) > 0)
        assert.include(allRuns, `/data/rejects?run=${kept?.run_id}`)
      })
    )
  })

  describe("feeds and checks", () => {
    it.effect("lists each feed once over all pages", () =>
      Effect.gen(function* () {
        const { feeds } = yield* DataRead
        const whole = yield* feeds({ limit: 1000 })
        const names = whole.rows.map(({ feed }) => feed)
        assert.include(names, "gov-mars/1603")
        const pages: Array<string> = []
        let previous: { readonly pipeline: string; readonly feed: string } | undefined
        for (let hasMore = true; hasMore; ) {
          const page = yield* feeds({ after: previous?.feed, after_pipeline: previous?.pipeline, limit: 7 })
          pages.push(...page.rows.map(({ feed }) => feed))
          previous = page.last
          hasMore = page.last !== undefined
        }
        assert.deepStrictEqual(pages, names)
        assert.include(yield* readBody("/data/feeds"), "gov-mars/1603")
      })
    )
    it.effect("shows how far a feed was read: the month of a monthly feed, and the day of others", () =>
      Effect.gen(function* () {
        const { rows } = yield* (yield* DataRead).feeds({ limit: 1000 })
        assert.strictEqual(rows.find(({ feed }) => feed === "gov-mpr/2989/Detail")?.read_to, "2026-10-01")
        const page = yield* readBody("/data/feeds")
        const readCursor = (feed: string) =>
          new RegExp(`>${feed}<.*?data-label="Read to"><div><time[^>]*>([^<]*)`, "s").exec(page)?.[1]
        assert.strictEqual(readCursor("gov-mpr/2989/Detail"), "October 2026")
        assert.match(readCursor("gov-mars/1602") ?? "", /^\d{1,2} \w{3,4} 2026$/)
        assert.match(readCursor("gov-mars/1603") ?? "", /^\d{1,2} \w{3,4} 2026$/)
      })
    )
    it.effect("names the report of a feed, and the states of what is judged by it", () =>
      Effect.gen(function* () {
        const { feeds } = yield* DataRead
        const { rows } = yield* feeds({ limit: 1000 })
        const findTitle = (name: string) => rows.find(({ feed }) => feed === name)?.title
        assert.strictEqual(findTitle("gov-mars/1603"), "CME Group - Daily Cash Trading - Week to Date")
        assert.strictEqual(
          findTitle("gov-mpr/2993/Final Butter Prices and Sales"),
          "National Dairy Products Sales Report"
        )
        assert.isUndefined(findTitle("gov-fdc/csv"))
        assert.deepStrictEqual(new Set(rows.flatMap(({ states }) => states)), new Set(["sample"]))
        const page = yield* readBody("/data/feeds")
        assert.include(page, "CME Group - Daily Cash Trading - Week to Date")
        assert.include(page, "as a whole")
      })
    )
    it.effect("shows unmapped fields above all feeds, and on the state page", () =>
      Effect.gen(function* () {
        const page = yield* readBody("/data/feeds")
        assert.include(page, "settlement_price")
        assert.isBelow(page.indexOf("settlement_price"), page.indexOf("Feeds and how far they have been read"))
        assert.include(yield* readBody("/data"), "Upstream has an unmapped field")
      })
    )
    it.effect("shows texts that were not understood beside the unmapped fields", () =>
      Effect.gen(function* () {
        const page = yield* readBody("/data/feeds")
        assert.match(page, />grade<.*Extra &lt;b&gt;Fine&lt;\/b&gt;.*>gov-mars\/1098<.*>not in the catalog</s)
        assert.notInclude(page, "Left out of the live data")
      })
    )
    it.effect("states how many checks passed, and shows the checks of each pipeline with their run", () =>
      Effect.gen(function* () {
        const checks = yield* (yield* DataRead).checks
        const page = yield* readBody("/data/checks")
        assert.include(page, `All ${checks.length} passed`)
        assert.deepStrictEqual([...page.matchAll(/<h2[^>]*>([^<]+)/g)].map(([, title]) => title).sort(), [
          "Branded foods",
          "Commodities",
          "Storefronts"
        ])
        for (const run_id of new Set(checks.map((check) => check.run_id))) {
          assert.strictEqual(page.split(`href="/data/runs/${run_id}"`).length, 2)
        }
        const state = yield* readBody("/data")
        assert.include(state, `All ${checks.length} passed`)
        assert.include(state, '<a href="/data/checks">See the checks</a>')
      })
    )
    it.effect("shows the checks of the newest published run of each pipeline, failures first", () =>
      Effect.gen(function* () {
        const checks = yield* (yield* DataRead).checks
        assert.deepStrictEqual([...new Set(checks.map(({ pipeline }) => pipeline))].sort(), [
          "branded-foods",
          "commodities",
          "storefronts"
        ])
        assert.notInclude(
          checks.map(({ run_id }) => run_id),
          failedRun.run_id
        )
        const passed = checks.map(({ bad_rows }) => bad_rows === 0)
        assert.deepStrictEqual(passed, passed.toSorted())
        assert.include(yield* readBody("/data/checks"), "rows_accounted_for")
      })
    )
  })

  describe("a filter with a fixed list of values", () => {
    it.effect.each([
      "/data/runs?pipeline=nothing",
      "/data/runs?outcome=zzz",
      "/data/feeds?pipeline=nothing",
      "/data/rejects?pipeline=nothing",
      "/data/rejects?before=first",
      "/data/prices?series=gold",
      "/data/prices?beside=gold"
    ])("fails with PageNotFound if its value is not in the list: %s", (target) =>
      Effect.map(readFailure(target), (tag) => assert.strictEqual(tag, "PageNotFound"))
    )
  })
})

const aStoreWithoutProducts = Effect.tap(aLayout, (layout) =>
  publishReads(layout, { day: 1, store: "platform_store_1" })
)

layer(layerData(aStoreWithoutProducts), { excludeTestServices: true })(
  "over a warehouse with hardly any data",
  (it) => {
    it.effect.each(dataPages.filter(({ path }) => !path.includes(":")).map(({ path }) => path))("shows %s", (path) =>
      Effect.map(readBody(path), (page) => assert.include(page, "Data"))
    )
  }
)

describe("every page about the warehouse", () => {
  it("is marked as for operators only", () => {
    assert.deepStrictEqual(
      dataPages.filter((page) => page.operatorsOnly !== true),
      []
    )
  })
})
