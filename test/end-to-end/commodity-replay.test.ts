/** Whole runs over small recordings of every report. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  aBarrelRow,
  aBlockRow,
  aClose,
  aFinalBlockRow,
  aMonthlyAverage,
  barrels,
  blocks,
  bodyOf,
  everyFeed,
  feedNamed,
  finalBlocks,
  n,
  type Row
} from "../support/pipelines/commodity-payloads.ts"
import {
  copyForTest,
  copyHome,
  generationOf,
  makeTestFolder,
  parseRunRecord,
  query,
  removeFolder,
  replay,
  temporaryFolder,
  valuesOf
} from "./ingesting.ts"

const [closes, classes] = [feedNamed("gov-mars/1603"), feedNamed("gov-mpr/2991/Detail")]
const block = "cheese_block_sales_price_weekly"
const weeks = ["08/29/2026", "09/05/2026", "09/12/2026", "09/19/2026", "09/26/2026"]
const makeReport = (published_date: string, prices: ReadonlyArray<string | null>): ReadonlyArray<Row> =>
  weeks.map((week, index) => aBlockRow({ "Week Ending Date": week, cheese_40_Price: prices[index], published_date }))
const countsOf = ({ stdout }: { readonly stdout: string }) => {
  const { outcome, rows_loaded, rows_read, rows_rejected, rows_unchanged } = parseRunRecord({ stdout })
  return { outcome, rows_loaded, rows_read, rows_rejected, rows_unchanged }
}

let home = ""
let first: Awaited<ReturnType<typeof replay>>
beforeAll(async () => {
  home = temporaryFolder()
})
afterAll(() => removeFolder(home))

describe("a first run", () => {
  it("loads every report, exits with 0 and accounts for every row", async () => {
    first = await replay(home, everyFeed())
    expect(first.stderr).not.toMatch(/no row of these metrics|rows rejected|unmapped/)
    expect(first.code).toBe(0)
    const { outcome, rows_loaded, rows_read, rows_rejected, rows_unchanged } = countsOf(first)
    expect({ outcome, rows_rejected, rows_unchanged }).toEqual({
      outcome: "published",
      rows_rejected: 0,
      rows_unchanged: 0
    })
    expect(rows_loaded).toBe(rows_read)
  })

  it("records the column in which each butter price was found as its measure", async () => {
    const [rows] = await query(
      home,
      "select slug, measure from commodity.series join commodity.metric using (metric_name) where slug like 'butter-%' order by slug"
    )
    expect(rows?.map(({ measure }) => measure)).toEqual(["monthly Av", "weekly Av", "close_price", "Butter_Price"])
  })

  it("loads all 24 series, the last of them at position 24", async () => {
    const [rows] = await query(
      home,
      "select count(*)::integer as series, max(position)::integer as last from commodity.series"
    )
    expect(rows).toEqual([{ series: 24, last: 24 }])
  })
})

describe("the next run", () => {
  it("publishes nothing over the same recordings, exits with 0 and counts every row as unchanged", async () => {
    const second = await replay(home, everyFeed())
    expect(second.code).toBe(0)
    const { rows_read } = countsOf(first)
    expect(countsOf(second)).toEqual({
      outcome: "unchanged",
      rows_loaded: 0,
      rows_read,
      rows_rejected: 0,
      rows_unchanged: rows_read
    })
    expect(generationOf(home, "commodities")).toBe("larder-000001")
  })

  it("replaces revised prices, keeps every version, and keeps a price if a report has null or is older", async () => {
    const copy = copyForTest(home)
    const december = makeReport("12/30/2026 13:04:36", ["1.6150", "1.6120", "1.5790", "1.5430", "1.4950"])
    const january = makeReport("01/02/2027 13:04:36", ["1.6160", null, "N/A", "", "1.4958"])
    const rows = [...january.toReversed(), ...december]
    const run = await replay(copy, { ...everyFeed(), [blocks.feed]: bodyOf(blocks, rows) })
    expect(run.code).toBe(0)
    expect(countsOf(run)).toMatchObject({ outcome: "published", rows_loaded: 7, rows_rejected: 0 })
    // the final section has 1.6140 for the first week: a final price takes precedence over later provisional ones
    const rest = ["2026-09-05 1.6120", "2026-09-12 1.5790", "2026-09-19 1.5430"]
    expect(await valuesOf(copy, block)).toEqual(["2026-08-29 1.6140", ...rest, "2026-09-26 1.4958"])
    expect(await valuesOf(copy, block, "2026-12-31")).toEqual(["2026-08-29 1.6140", ...rest, "2026-09-26 1.4950"])
    const [versions] = await query(
      copy,
      `select value_text, revision_status from commodity.observation_version where metric_name = '${block}' and observed_on = '2026-08-29' order by published_at, revision_status desc`
    )
    expect(versions).toEqual([
      { value_text: "1.6140", revision_status: "provisional" },
      { value_text: "1.6140", revision_status: "final" },
      { value_text: "1.6150", revision_status: "provisional" },
      { value_text: "1.6160", revision_status: "provisional" }
    ])
  })

  it("finds nothing new in a response without rows, and removes nothing", async () => {
    const copy = copyForTest(home)
    const nothing = '{"message":"No Results Found","results":null}'
    const bodies = {
      ...everyFeed(),
      [classes.feed]: bodyOf(classes, []),
      [blocks.feed]: nothing,
      [finalBlocks.feed]: nothing
    }
    const run = await replay(copy, bodies)
    expect(run.code).toBe(0)
    expect(countsOf(run)).toMatchObject({ rows_loaded: 0, rows_rejected: 0 })
    expect(await valuesOf(copy, block)).toEqual(["2026-08-29 1.6140"])
    expect(await valuesOf(copy, "milk_class_iv_price_monthly")).toEqual(["2026-07-01 18.34"])
    expect(run.stderr).toContain("the response has no row, although prices of 1 of the requested days are known")
  })

  it("leaves out a daily report whose response has no row, and keeps its prices", async () => {
    const copy = copyForTest(home)
    const run = await replay(copy, { ...everyFeed(), [closes.feed]: bodyOf(closes, []) })
    expect(run.code).toBe(4)
    expect(run.stderr).toContain("1603 has no row, although prices of 1 of the requested days are known")
    expect(await valuesOf(copy, "butter_exch_spot_close_daily")).toEqual(["2026-09-29 1.39"])
  })
})

describe("reports with unusual rows", () => {
  const unusualRows = [
    aBlockRow(), // known
    aBlockRow({ "Week Ending Date": "09/05/2026", cheese_40_Price: "1.6100", published_date: "09/10/2026 12:52:11" }),
    aBlockRow({ "Week Ending Date": "09/05/2026", cheese_40_Price: "1.6100", published_date: "09/10/2026 12:52:11" }), // twice
    aBlockRow({ "Week Ending Date": "09/12/2026", cheese_40_Price: null }),
    aBlockRow({ "Week Ending Date": null }),
    aBlockRow({ "Week Ending Date": "09/19/2026", cheese_40_Price: "n.q." }),
    aBlockRow({ "Week Ending Date": "09/26/2026", published_date: null, created_date: null, cheese_40_Price: "1.4900" })
  ]
  const digits = [
    aClose({ report_date: "09/30/2026", close_price: n("1.3900") }),
    aClose({ report_date: "10/01/2026", close_price: "1.40" }),
    aClose({ report_date: "10/02/2026", close_price: n("2"), published_date: "10/01/2026 10:57:04" })
  ]
  const priced: ReadonlyArray<readonly [string, string]> = [
    ["05/10/2025", "1.9056"],
    ["05/17/2025", "1.8935"],
    ["05/24/2025", "1.9268"],
    ["05/31/2025", "1.9495"]
  ]
  const later = { week_ending_date: "06/07/2025", published_date: "06/11/2025 13:03:11" }
  const restated = [
    ...priced.map(([week]) => aBarrelRow(week, null, later)),
    ...priced.map(([week, price]) => aBarrelRow(week, price)),
    aBarrelRow("06/07/2025", null, later)
  ]
  const copy = temporaryFolder()
  let run: Awaited<ReturnType<typeof replay>>
  beforeAll(async () => {
    copyHome(home, copy)
    run = await replay(copy, {
      ...everyFeed(),
      [blocks.feed]: bodyOf(blocks, unusualRows, { "returnedRows:": 3785, "totalRows:": 3785 }),
      [closes.feed]: bodyOf(closes, digits),
      [barrels.feed]: bodyOf(barrels, restated)
    })
  })
  afterAll(() => removeFolder(copy))

  it("count each row as loaded, unchanged or rejected, with a reason for each reject", async () => {
    expect(run.code).toBe(4)
    expect(run.problems).toMatch(/40 Pound Block .*: The payload of \S+ states 3785 rows and contains 7\./)
    expect(run.problems).toMatch(/rows rejected/)
    const { rows_loaded, rows_read, rows_rejected, rows_unchanged } = countsOf(run)
    expect([rows_loaded, rows_rejected]).toEqual([2 + digits.length + priced.length, 2])
    expect(Number(rows_loaded) + Number(rows_unchanged) + Number(rows_rejected)).toBe(rows_read)
    expect(await valuesOf(copy, block)).toEqual(["2026-08-29 1.6140", "2026-09-05 1.6100", "2026-09-26 1.4900"])
    const [rejects, raw] = await query(
      copy,
      "select feed, position::integer as position, reason, payload from ingest.reject order by position",
      `select rows_read::integer as rows_read, rows_rejected::integer as rows_rejected, rows_stated::integer as rows_stated
       from ingest.raw_file where raw_sha256 in (select raw_sha256 from ingest.reject)`
    )
    expect(rejects).toEqual([
      {
        feed: blocks.feed,
        position: 5,
        reason: "Week Ending Date is null, which is not a date",
        payload: JSON.stringify(unusualRows[4])
      },
      {
        feed: blocks.feed,
        position: 6,
        reason: 'cheese_40_Price is "n.q.", which is not a price',
        payload: JSON.stringify(unusualRows[5])
      }
    ])
    expect(raw).toEqual([{ rows_read: 7, rows_rejected: 2, rows_stated: 3785 }])
  })

  it("keep the digits as published, such as 1.3900", async () => {
    expect(await valuesOf(copy, "butter_exch_spot_close_daily")).toEqual([
      "2026-09-29 1.39",
      "2026-09-30 1.3900",
      "2026-10-01 1.40",
      "2026-10-02 2"
    ])
  })

  it("keep the last four prices of barrels, with nulls before or after them in the payload", async () => {
    const values = await valuesOf(copy, "cheese_barrel_sales_price_weekly")
    expect(values.slice(0, 4)).toEqual([
      "2025-05-10 1.9056",
      "2025-05-17 1.8935",
      "2025-05-24 1.9268",
      "2025-05-31 1.9495"
    ])
  })
})

describe("a window of days over recordings without a query", () => {
  it("loads only the readings of these days, including those from year-to-date reports", async () => {
    const months = ["January", "July", "August"].map((report_month) => aMonthlyAverage({ report_month }))
    const final = [
      aFinalBlockRow(),
      aFinalBlockRow({ week_ending_date: "08/01/2026" }),
      aFinalBlockRow({ week_ending_date: "06/27/2026" })
    ]
    const bodies = {
      "gov-mars/1623": bodyOf(feedNamed("gov-mars/1623"), months),
      [finalBlocks.feed]: bodyOf(finalBlocks, final)
    }
    const empty = makeTestFolder()
    const run = await replay(empty, bodies, "--from", "2026-07-01", "--to", "2026-08-01")
    expect(parseRunRecord(run)).toMatchObject({ window_from: "2026-07-01", window_to: "2026-08-01" })
    const [rows, windows] = await query(
      empty,
      "select distinct metric_name, observed_on::varchar as day from commodity.observation order by all",
      `select distinct window_from::varchar as window_from, window_to::varchar as window_to, length(mapping_sha256)::integer as digits
       from ingest.raw_file`
    )
    expect(windows).toEqual([{ window_from: "2026-07-01", window_to: "2026-08-01", digits: 64 }])
    expect(rows).toEqual([
      { metric_name: "butter_exch_spot_average_monthly", day: "2026-07-01" },
      { metric_name: "butter_exch_spot_average_monthly", day: "2026-08-01" },
      { metric_name: block, day: "2026-08-01" }
    ])
  })
})

describe("a report that is not among the recordings", () => {
  it("is named with the paths that were searched; the others are published, and the run exits with 4", async () => {
    const copy = copyForTest(home)
    const { "gov-mars/1623": _monthly, "gov-mpr/2989/Detail": _advanced, ...rest } = everyFeed()
    const rows = [aClose({ report_date: "09/30/2026", close_price: 1.4 })]
    const run = await replay(copy, { ...rest, [closes.feed]: bodyOf(closes, rows) })
    expect(run.code).toBe(4)
    expect(parseRunRecord(run)).toMatchObject({ outcome: "partial", generation: "larder-000003", rows_loaded: 1 })
    expect(run.problems).toMatch(/2 feeds of commodities left out/)
    expect(run.problems).toMatch(/gov-mars\/1623: There is no recording of GET .*1623\?allSections=true/)
    expect(run.problems).toMatch(/marsapi\.ams\.usda\.gov\/services\/v1\.2\/reports\/1623\/CME%20Monthly%20Averages\n/)
    expect(run.problems).toMatch(/gov-mpr\/2989\/Detail: There is no recording of GET/)
    expect(await valuesOf(copy, "butter_exch_spot_close_daily")).toContain("2026-09-30 1.4")
    expect(await valuesOf(copy, "milk_class_i_price_monthly")).toEqual(["2026-07-01 21.33"])
  })
})
