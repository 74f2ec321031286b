/** The pages about the warehouse, over the bundled samples, with runs and rows that did not go well beside them. */
import { rmSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import { DataRead } from "@larder/serve/console/data-read.ts"
import type { Answer, PageContext } from "@larder/serve/console/page.ts"
import { dataPages } from "@larder/serve/console/pages/data.ts"
import { loadReadModel } from "@larder/serve/read-model.ts"
import { writeToJournal } from "@larder/warehouse/generation/journal.ts"
import { currentFile, layoutOf } from "@larder/warehouse/generation/layout.ts"
import { watchLive } from "@larder/warehouse/generation/live.ts"
import { aRun, tamper } from "@larder/warehouse/pantry-for-tests.ts"
import { Effect, Layer, Option, Redacted } from "effect"
import { inject } from "vitest"
import { copyHome } from "../sample-home.ts"

/** After whatever the samples were read on. */
const now = Date.parse("2099-11-01T12:00:00.000Z")

const contextOf = (target: string, params: Readonly<Record<string, string>>): PageContext => ({
  person: { id: "pers_1", account_id: "acct_1", email: "operator@example.com", is_operator: true },
  account: { id: "acct_1", name: "Operators", created_at: "2026-10-01T00:00:00.000Z", balance_credits: 5000 },
  url: new URL(target, "http://127.0.0.1:8081"),
  params,
  console: "http://127.0.0.1:8081",
  api: "http://127.0.0.1:8080",
  now,
  session: Redacted.make("not a session")
})

/** What a page shows, as HTML. */
const shown = Effect.fnUntraced(function* (target: string, params: Readonly<Record<string, string>> = {}) {
  const path = Object.keys(params).length === 0 ? target.split("?")[0] : "/data/runs/:id"
  const page = dataPages.find((candidate) => candidate.path === path)
  if (page?.get === undefined) return yield* Effect.die(`no page at ${path}`)
  const answer: Answer = yield* page.get(contextOf(target, params))
  if (answer.kind !== "page") return yield* Effect.die(`${target} answers ${answer.kind}`)
  return String(yield* Effect.promise(async () => answer.body)).replaceAll("<wbr>", "") // names may break there
})

const failed = aRun({
  run_id: "20991031T100000000Z-commodities-fa11ed",
  pipeline: "commodities",
  outcome: "checks_failed",
  started_at: "2099-10-31T10:00:00.000Z",
  finished_at: "2099-10-31T10:01:05.000Z",
  rows_read: 10,
  rows_unchanged: 10,
  message: "Checks failed; nothing was published.\n  price_positive: 2 bad rows"
})
const failedCheck = {
  name: "price_positive",
  severity: "error",
  description: "every price is above zero",
  bad_rows: 2,
  examples: '[{"value":"-1"}]'
} as const

const rejected = 60
/** One that left feeds out. */
const partial = aRun({
  run_id: "20991101T100000000Z-storefronts-9a47a1",
  pipeline: "storefronts",
  outcome: "partial",
  started_at: "2099-11-01T10:00:00.000Z",
  finished_at: "2099-11-01T10:00:05.000Z",
  message: "1 feed of storefronts could not be read."
})

/** Rows that were refused, one of them long and hostile, and one of a file of a feed. */
const addRejects = `
  insert into ingest.reject
  select 'storefronts', 'shop-' || (i % 3), '20261001T000000000Z-storefronts-000001', 'ab', i,
    case when i = 60 then 'title: is <b>markup</b>' else 'price: is not a number' end,
    case when i = 60 then '<script>alert(1)</script>' || repeat('x', 1000) else '{}' end
  from generate_series(1, ${rejected}) as t(i);
  insert into ingest.reject
  values ('branded-foods', 'gov-fdc/csv/food.csv', '20261001T000000000Z-branded-foods-000001', 'cd', 7, 'fdc_id: is empty', '{}')`

/** The samples, tampered with as told, opened as a server opens them. */
const dataAfter = (sql: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const home = yield* Effect.acquireRelease(
        Effect.sync(() => copyHome(inject("sampleHome"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const layout = yield* layoutOf(home)
      yield* tamper(Option.getOrThrow(yield* currentFile(layout)), sql)
      yield* writeToJournal(layout, failed, [failedCheck])
      yield* writeToJournal(layout, partial, [])
      return DataRead.layer(yield* watchLive(layout, loadReadModel(layout)), layout)
    })
  ).pipe(Layer.provide(NodeServices.layer))

layer(dataAfter(addRejects), { excludeTestServices: true })("over samples with rejects and a failed run", (it) => {
  describe("the state of the warehouse", () => {
    it.effect("tells how fresh each data set is, with the last run even where it published nothing", () =>
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
        assert.strictEqual(commodities?.last_read?.outcome, "published")
        assert.deepStrictEqual(commodities?.holds[0], { count: 24, what: "series" })
        assert.match(commodities?.newest[0]?.on ?? "", /^2026-\d\d-\d\d$/)
        assert.strictEqual(stores?.last_run?.outcome, "partial")
        assert.strictEqual(stores?.last_read?.outcome, "published")
        const page = yield* shown("/data")
        assert.include(page, "The last run of Commodities did not end well")
        assert.include(page, "24 series")
      })
    )
    it.effect("lists the generations that are kept, the live one marked, with the runs that published them", () =>
      Effect.gen(function* () {
        const data = yield* DataRead
        const generations = yield* data.generations
        assert.deepStrictEqual(
          generations.map(({ isLive, run, id }) => [id, isLive, run?.generation]),
          [
            ["larder-000003", true, "larder-000003"],
            ["larder-000002", false, "larder-000002"],
            ["larder-000001", false, "larder-000001"]
          ]
        )
        assert.isAbove(generations[0]?.bytes ?? 0, 1_000_000)
        const page = yield* shown("/data")
        for (const { run } of generations) {
          assert.include(page, `${run?.run_id}"><time datetime="${run?.finished_at}"`)
        }
      })
    )
  })

  describe("runs", () => {
    it.effect("come newest first, those of the journal among them, and all pages joined are the whole list", () =>
      Effect.gen(function* () {
        const { runs } = yield* DataRead
        const any = { pipeline: undefined, outcome: undefined }
        const whole = yield* runs({ ...any, before: undefined, limit: 100 })
        assert.deepStrictEqual(
          whole.rows.slice(0, 2).map(({ run_id }) => run_id),
          [partial.run_id, failed.run_id]
        )
        assert.isAtLeast(whole.rows.length, 5)
        const pages: Array<string> = []
        let before: string | undefined
        for (let more = true; more; ) {
          const page = yield* runs({ ...any, before, limit: 1 })
          pages.push(...page.rows.map(({ run_id }) => run_id))
          before = page.rows.at(-1)?.run_id
          more = page.hasMore
        }
        assert.deepStrictEqual(
          pages,
          whole.rows.map(({ run_id }) => run_id)
        )
      })
    )
    it.effect("are found by pipeline and outcome", () =>
      Effect.gen(function* () {
        const { runs } = yield* DataRead
        const wanted = { pipeline: "commodities", outcome: "checks_failed", before: undefined, limit: 10 }
        assert.deepStrictEqual(
          (yield* runs(wanted)).rows.map(({ run_id }) => run_id),
          [failed.run_id]
        )
        assert.include(yield* shown("/data/runs?pipeline=nothing"), "No such run")
      })
    )
    it.effect("tell what went wrong and which check found it, also before a generation has taken them up", () =>
      Effect.gen(function* () {
        const page = yield* shown(`/data/runs/${failed.run_id}`, { id: failed.run_id })
        assert.include(page, "price_positive")
        assert.include(page, "2 bad rows")
        const { tag } = yield* Effect.flip(shown("/data/runs/none", { id: "none" })).pipe(
          Effect.map((error) => ({ tag: Reflect.get(Object(error), "_tag") }))
        )
        assert.strictEqual(tag, "PageNotFound")
      })
    )
  })

  describe("rejects", () => {
    it.effect("come in pages that joined are all of them, once", () =>
      Effect.gen(function* () {
        const { rejects } = yield* DataRead
        const wanted = { pipeline: "storefronts", feed: undefined, reason: undefined, run_id: undefined, limit: 25 }
        const positions: Array<number> = []
        let before: number | undefined
        for (let more = true; more; ) {
          const page = yield* rejects({ ...wanted, run_id: "20261001T000000000Z-storefronts-000001", before })
          positions.push(...page.rows.map(({ position }) => position))
          before = page.rows.at(-1)?.row
          more = page.hasMore
        }
        assert.deepStrictEqual(
          positions,
          Array.from({ length: rejected }, (_, index) => rejected - index)
        )
      })
    )
    it.effect("show a hostile row as text, and only its beginning", () =>
      Effect.gen(function* () {
        const page = yield* shown(`/data/rejects?reason=${encodeURIComponent("title: is <b>markup</b>")}`)
        assert.include(page, "&lt;script&gt;alert(1)&lt;/script&gt;")
        assert.notInclude(page, "<script>")
        assert.notInclude(page, "<b>markup")
        assert.notInclude(page, "x".repeat(1000))
        assert.include(page, "1,025 characters")
      })
    )
    it.effect("are counted by reason", () =>
      Effect.gen(function* () {
        const { reasons } = yield* DataRead
        assert.deepInclude(yield* reasons("storefronts"), {
          pipeline: "storefronts",
          reason: "price: is not a number",
          feeds: 3,
          rejects: 59
        })
      })
    )
    it.effect("are counted by feed with those of its files, and its link finds as many", () =>
      Effect.gen(function* () {
        const data = yield* DataRead
        const { rows } = yield* data.feeds({ pipeline: undefined, after: undefined, limit: 1000 })
        const counted = rows.flatMap(({ feed, pipeline, rejects }) =>
          rejects > 0 ? [{ feed, pipeline, rejects }] : []
        )
        assert.deepInclude(counted, { feed: "gov-fdc/csv", pipeline: "branded-foods", rejects: 1 })
        // refused after its payloads had been read
        assert.deepInclude(counted, { feed: "store/orchard-pantry.example", pipeline: "storefronts", rejects: 1 })
        for (const { feed, pipeline, rejects } of counted) {
          const all = { reason: undefined, run_id: undefined, before: undefined, limit: 1000 }
          const found = yield* data.rejects({ ...all, feed, pipeline })
          assert.strictEqual(found.rows.length, rejects, feed)
        }
        const page = yield* shown("/data/rejects?pipeline=branded-foods&feed=gov-fdc/csv")
        assert.include(page, "gov-fdc/csv/food.csv, row 7")
        assert.include(page, "20261001T000000000Z-branded-foods-000001")
      })
    )
  })

  describe("feeds and checks", () => {
    it.effect("tell how far each feed was read, page by page", () =>
      Effect.gen(function* () {
        const { feeds } = yield* DataRead
        const whole = yield* feeds({ pipeline: undefined, after: undefined, limit: 1000 })
        const names = whole.rows.map(({ feed }) => feed)
        assert.include(names, "gov-mars/1603")
        const pages: Array<string> = []
        let after: { readonly pipeline: string; readonly feed: string } | undefined
        for (let more = true; more; ) {
          const page = yield* feeds({ pipeline: undefined, after, limit: 7 })
          pages.push(...page.rows.map(({ feed }) => feed))
          after = page.rows.at(-1)
          more = page.hasMore
        }
        assert.deepStrictEqual(pages, names)
        assert.include(yield* shown("/data/feeds"), "gov-mars/1603")
      })
    )
    it.effect("are those of the newest published run of each pipeline, failures first", () =>
      Effect.gen(function* () {
        const { checks } = yield* DataRead
        const all = yield* checks
        assert.deepStrictEqual([...new Set(all.map(({ pipeline }) => pipeline))].sort(), [
          "branded-foods",
          "commodities",
          "storefronts"
        ])
        assert.notInclude(
          all.map(({ run_id }) => run_id),
          failed.run_id
        )
        const passed = all.map(({ bad_rows }) => bad_rows === 0)
        assert.deepStrictEqual(passed, passed.toSorted())
        assert.include(yield* shown("/data/checks"), "rows_accounted_for")
      })
    )
  })

  describe("prices", () => {
    it.effect("are drawn for the series and days that are asked for, with the same numbers as a table", () =>
      Effect.gen(function* () {
        const page = yield* shown("/data/prices?series=butter-sales-price-weekly&from=2026-08-01&to=2026-08-31")
        assert.match(page, /<svg[^>]+role="img"/)
        assert.include(page, "29 Aug 2026")
        assert.notInclude(page, "5 Sep 2026:")
      })
    )
    it.effect("are drawn beside others of the same unit alone", () =>
      Effect.gen(function* () {
        const page = yield* shown("/data/prices?series=butter-sales-price-weekly&beside=milk-class-iii-price-monthly")
        assert.include(page, "is not drawn: it is in USD per cwt")
      })
    )
    it.effect("have names that tell them apart", () =>
      Effect.gen(function* () {
        const page = yield* shown("/data/prices")
        const [, series = ""] = /<select id="series"(.*?)<\/select>/s.exec(page) ?? []
        const names = [...series.matchAll(/>([^<]+)<\/option>/g)].map(([, name]) => name)
        assert.isAbove(names.length, 100)
        assert.strictEqual(new Set(names).size, names.length)
      })
    )
    it.effect("mark the days that are shown, which are all of them where none is asked for", () =>
      Effect.gen(function* () {
        const current = /aria-current="true">([^<]+)/
        assert.strictEqual(current.exec(yield* shown("/data/prices"))?.[1], "1 year")
        assert.strictEqual(current.exec(yield* shown("/data/prices?from="))?.[1], "Everything")
        assert.notMatch(yield* shown("/data/prices?to=2026-08-31"), current)
      })
    )
    it.effect("stand below each other with as many decimals as their unit is quoted in", () =>
      Effect.gen(function* () {
        const page = yield* shown("/data/prices")
        for (const figure of ["1.3560", "1.3500", "17.60"]) assert.include(page, `<div>${figure}</div>`)
      })
    )
    it.effect("fall back to what there is when a name or a day is unknown", () =>
      Effect.gen(function* () {
        const page = yield* shown("/data/prices?series=gold&from=2026-02-30")
        assert.match(page, /<svg[^>]+role="img"/)
      })
    )
  })
})

layer(
  dataAfter(`delete from ingest.reject; delete from ingest.check_result; delete from ingest.cursor;
    delete from ingest.raw_file; drop schema commodity cascade; drop schema branded_food cascade;
    drop schema storefront cascade`),
  { excludeTestServices: true }
)("over a warehouse that holds no data", (it) => {
  it.effect.each(dataPages.filter(({ path }) => !path.includes(":")).map(({ path }) => path))("%s answers", (path) =>
    Effect.map(shown(path), (page) => assert.include(page, "Data"))
  )
})

describe("every page about the warehouse", () => {
  it("is for operators alone", () => {
    assert.deepStrictEqual(
      dataPages.filter((page) => page.operatorsOnly !== true),
      []
    )
  })
})
