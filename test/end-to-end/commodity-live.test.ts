/** Live reads: windows, cursors, and responses without rows. `commodity-services.test.ts` has services that refuse or fail. */
import { readdirSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { ReadFailed, reasonLines } from "@larder/pipelines/run/pipeline.ts"
import { checkPipeline } from "@larder/pipelines/run/preflight.ts"
import { UsageError } from "@larder/pipelines/run/usage-error.ts"
import { addDays } from "@larder/schemas"
import { layoutOf } from "@larder/warehouse"
import { ConfigProvider, Effect } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { aBlockRow, aClose, type Bodies, blocks, bodyOf, feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { bodiesOf, rowsIn, runLive, serveFeeds, temporaryHome } from "../support/pipelines/live-commodities.ts"
import { startUpstream, type Upstream } from "../support/pipelines/upstream.ts"

const { feeds } = catalog()

const closes = feedNamed("gov-mars/1603")

const butter = "gov-mpr/2993/Butter Prices and Sales"

/** Lists the queries of the requests for a report, in order. */
const listQueries = ({ requests }: Upstream, report: string) =>
  requests.flatMap(({ url }) => {
    const { pathname, searchParams } = new URL(url, "http://localhost")
    return pathname.endsWith(`/${report}`) ? [searchParams.get("q")] : []
  })

const formatAmerican = (day: string) => `${day.slice(5, 7)}/${day.slice(8)}/${day.slice(0, 4)}`
const today = () => new Date().toISOString().slice(0, 10)

/** Three runs: of new reports, of the same reports, and of a revised price while no other report responds. */
const threeRuns = oncePerFile(
  Effect.gen(function* () {
    const home = yield* temporaryHome
    const warnings: Array<string> = []
    const onLog = (message: string) => warnings.push(message)
    const newField = aClose({ last_trade: "09:59" })
    let bodies: Bodies = { ...bodiesOf(blocks.feed), [closes.feed]: bodyOf(closes, [newField]) }
    const upstream = yield* startUpstream(serveFeeds(() => bodies))
    const first = yield* runLive({ home, upstream, onLog })
    const second = yield* runLive({ home, upstream, onLog, id: "run-2" })
    const queries = listQueries(upstream, "1603")
    const revised = aClose({ last_trade: "09:58", close_price: 1.4, published_date: "09/30/2026 10:57:02" })
    bodies = { [closes.feed]: bodyOf(closes, [revised]) }
    const third = yield* runLive({ home, upstream, onLog, id: "run-3" })
    return { home, warnings, queries, first, second, third }
  }).pipe(Effect.provide(NodeServices.layer))
)

describe("a live run of commodities", () => {
  it.live("reads the whole history first, and in the next run looks back 45 days from where it ended", () =>
    Effect.gen(function* () {
      const { first, home, queries, second, third } = yield* threeRuns
      const window = `report_begin_date=${formatAmerican(addDays("2026-09-29", -45))}:${formatAmerican(addDays(today(), 14))}`
      assert.deepStrictEqual(queries, [null, window])
      assert.deepStrictEqual(
        [second.run.outcome, second.run.rows_loaded, second.run.rows_unchanged],
        ["unchanged", 0, first.rows_read]
      )
      assert.deepStrictEqual([third.run.outcome, third.run.rows_loaded], ["published", 1])
      const versions = yield* rowsIn(
        home,
        "select value_text, run_id from commodity.observation_version where metric_name = 'butter_exch_spot_close_daily' order by published_at"
      )
      assert.deepStrictEqual(versions, [
        { value_text: "1.39", run_id: "run-1" },
        { value_text: "1.4", run_id: "run-3" }
      ])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("looks back from today when it has read rows for future days", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const futureDay = formatAmerican(addDays(today(), 20))
      const close = aClose({
        report_date: futureDay,
        report_begin_date: formatAmerican(today()),
        published_date: `${futureDay} 10:57:04`
      })
      const upstream = yield* startUpstream(serveFeeds(() => ({ [closes.feed]: bodyOf(closes, [close]) })))
      yield* runLive({ home, upstream })
      yield* runLive({ home, upstream, id: "run-2" })
      const window = `report_begin_date=${formatAmerican(addDays(today(), -45))}:${formatAmerican(addDays(today(), 14))}`
      assert.deepStrictEqual(listQueries(upstream, "1603"), [null, window])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("fails when the service ignores the window and returns other days", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream(serveFeeds(() => ({ [closes.feed]: bodyOf(closes, [aClose()]) })))
      const error = yield* Effect.flip(runLive({ home, upstream, days: { from: "2020-01-01", to: "2020-03-31" } }))
      assert.instanceOf(error, ReadFailed)
      assert.include(
        error.message,
        "gov-mars/1603: The report has changed: report_begin_date was requested from 2019-12-26 to 2020-04-06, and a row for 2026-09-28 was returned: the service ignored the filter"
      )
      assert.isFalse(readdirSync(home).includes("warehouse"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("requests a wider window to find a year-to-date report, and leaves no cursor after a backfill", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream(serveFeeds(() => bodiesOf("gov-mars/1623")))
      const august = { from: "2026-08-01", to: "2026-08-31" }
      const { run } = yield* runLive({ home, upstream, days: august })
      assert.deepStrictEqual(listQueries(upstream, "1623"), ["report_begin_date=07/31/2025:09/01/2027"])
      assert.strictEqual(run.rows_loaded, 5)
      yield* runLive({ home, upstream, id: "run-2" })
      assert.isNull(
        listQueries(upstream, "1623")[1],
        "a backfill leaves no cursor: the whole history is still to be read"
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "is refused immediately for a warehouse of bundled samples, and reports which feeds a missing key excludes",
    () =>
      Effect.gen(function* () {
        const home = yield* temporaryHome
        const upstream = yield* startUpstream(serveFeeds(() => bodiesOf(closes.feed)))
        const layout = yield* layoutOf(home)
        const check = (environment: Readonly<Record<string, string>>) =>
          checkPipeline(commodities, layout, { kind: "live", stores: undefined }).pipe(
            Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
          )
        assert.deepStrictEqual(yield* check({ MARS_API_KEY: "a-key" }), {})
        assert.match(
          (yield* check({ MARS_API_KEY: " " })).missing ?? "",
          /^MARS_API_KEY is not set: .* are left out\. A key is free/
        )
        yield* runLive({ home, upstream, origin: "sample" })
        const error = yield* Effect.flip(check({ MARS_API_KEY: "a-key" }))
        assert.instanceOf(error, UsageError)
        assert.match(error.message, /contains bundled samples, .* Set LARDER_HOME to another folder/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("resumes an untrusted feed where its last successful run ended, and loads the missed rows", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const others = bodiesOf(butter, "gov-mars/1034", "gov-mars/1035")
      const [monday, tuesday] = [aClose({ report_date: "09/28/2026" }), aClose({ report_date: "09/29/2026" })]
      let close = bodyOf(closes, [monday])
      const upstream = yield* startUpstream(serveFeeds(() => ({ ...others, [closes.feed]: close })))
      yield* runLive({ home, upstream })
      close = bodyOf(closes, [monday, tuesday]).replaceAll("close_price", "closing_price")
      const faulty = yield* runLive({ home, upstream, id: "run-2" })
      assert.match(
        faulty.left_out.find(({ feed }) => feed === closes.feed)?.reason ?? "",
        /the column close_price is missing/
      )
      close = bodyOf(closes, [monday, tuesday])
      const successful = yield* runLive({ home, upstream, id: "run-3" })
      close = bodyOf(closes, [tuesday])
      yield* runLive({ home, upstream, id: "run-4" })
      const windowFrom = (day: string) =>
        `report_begin_date=${formatAmerican(addDays(day, -45))}:${formatAmerican(addDays(today(), 14))}`
      const expected = [null, windowFrom("2026-09-28"), windowFrom("2026-09-28"), windowFrom("2026-09-29")]
      assert.deepStrictEqual(listQueries(upstream, "1603"), expected)
      assert.strictEqual(successful.run.rows_loaded, 1)
      const days =
        "select observed_on::varchar as day from commodity.observation where metric_name = 'butter_exch_spot_close_daily' order by 1"
      assert.deepStrictEqual(yield* rowsIn(home, days), [{ day: "2026-09-28" }, { day: "2026-09-29" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("reads JSON under another content type with a warning, and reports every fault of the run at once", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const bodies = { ...bodiesOf(closes.feed, butter), [blocks.feed]: bodyOf(blocks, [aBlockRow()]).slice(0, -9) }
      const upstream = yield* startUpstream((response, n, request) => {
        if (!request.url.includes("/1603")) return serveFeeds(() => bodies)(response, n, request)
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" })
        response.end(bodies[closes.feed])
      })
      const warnings: Array<string> = []
      const { left_out } = yield* runLive({ home, upstream, onLog: (line) => warnings.push(line) })
      assert.include(warnings.join("\n"), "has the content type text/html; charset=utf-8, but is JSON")
      const problems = reasonLines(left_out).join("\n")
      assert.notInclude(problems, "gov-mars/1603: ")
      assert.match(problems, /40 Pound Block Cheddar Cheese Prices and Sales: .* is not complete JSON/)
      assert.match(problems, /gov-mars\/1602: GET \S+ was refused/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a response without rows", () => {
  const names = [closes.feed, "gov-mars/1034", "gov-mars/1035", butter, blocks.feed, "gov-mpr/2991/Detail"]
  const emptyBodies = (...feeds: ReadonlyArray<string>) =>
    Object.fromEntries(feeds.map((feed) => [feed, bodyOf(feedNamed(feed), [])]))

  it.live("is accepted for a window of days if it states this, and never for a whole history", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      let bodies: Bodies = { ...bodiesOf(...names), ...emptyBodies("gov-mars/1034") }
      const upstream = yield* startUpstream(serveFeeds(() => bodies))
      const first = yield* runLive({ home, upstream })
      assert.match(
        first.left_out.find(({ feed }) => feed === "gov-mars/1034")?.reason ?? "",
        /1034 has no row, although the whole history was requested\.$/
      )
      bodies = { ...bodiesOf(...names), ...emptyBodies("gov-mars/1035") }
      const second = yield* runLive({ home, upstream, id: "run-2" })
      assert.lengthOf(second.left_out, feeds.length - names.length)
      bodies = emptyBodies(...names)
      const backfill = { from: "2020-01-01", to: "2020-01-31" }
      const third = yield* runLive({ home, upstream, id: "run-3", days: backfill })
      assert.lengthOf(third.left_out, feeds.length - names.length)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is accepted from no daily report for days whose prices are known", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      let bodies: Bodies = bodiesOf(...names)
      const upstream = yield* startUpstream(serveFeeds(() => bodies))
      yield* runLive({ home, upstream })
      bodies = { ...bodiesOf(...names), ...emptyBodies(closes.feed) }
      const { left_out } = yield* runLive({ home, upstream, id: "run-2" })
      assert.match(
        left_out.find(({ feed }) => feed === closes.feed)?.reason ?? "",
        /has no row, although prices of 1 of the requested days are known\.$/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is accepted for no feed when all feeds of a service have none", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      let bodies: Bodies = bodiesOf(...names)
      const upstream = yield* startUpstream(serveFeeds(() => bodies))
      yield* runLive({ home, upstream })
      bodies = emptyBodies(...names)
      const error = yield* Effect.flip(runLive({ home, upstream, id: "run-2" }))
      assert.instanceOf(error, ReadFailed)
      assert.match(
        error.message,
        /gov-mpr\/2991\/Detail: It has no row of the days that were read before, like every other/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a service that is unavailable", () => {
  it.live("loses no rows that earlier runs loaded from it", () =>
    Effect.gen(function* () {
      const { home, third } = yield* threeRuns
      assert.lengthOf(third.left_out, feeds.length - 1)
      const values =
        "select value_text from commodity.observation where metric_name = 'cheese_block_sales_price_weekly'"
      assert.deepStrictEqual(yield* rowsIn(home, values), [{ value_text: "1.6140" }])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("a field that the source adds", () => {
  it.live("causes one warning per feed, and is recorded", () =>
    Effect.gen(function* () {
      const { home, warnings } = yield* threeRuns
      assert.lengthOf(
        warnings.filter((warning) => warning.includes("last_trade")),
        1
      )
      assert.deepStrictEqual(yield* rowsIn(home, "select feed, field, run_id, example from ingest.unknown_field"), [
        { feed: "gov-mars/1603", field: "last_trade", run_id: "run-1", example: '"09:59"' }
      ])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
