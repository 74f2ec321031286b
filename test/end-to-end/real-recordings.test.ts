/** Real numbers from recordings of the services, in any order of rows. Two runs, about ten seconds. */
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { parseRunRecord, query, removeFolder, replayFolder, temporaryFolder, valuesOf } from "./ingesting.ts"
import {
  butterMonths,
  classIVMonths,
  keepOrder,
  type Order,
  powderPrints,
  recordings,
  reportTitles,
  spotCloses
} from "./real-recordings.ts"

const { feedsByName } = catalog()

/** Sorts by a fixed rule that is independent of the rows. */
const shuffle: Order = (rows) =>
  rows
    .map((row, index) => ({ row, rank: (index * 7919 + 13) % 1009 }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ row }) => row)

const folders = { recorded: "", shuffled: "", home: "", otherHome: "" }

const testRealNumbers = () => {
  let first: Awaited<ReturnType<typeof replayFolder>>
  beforeAll(async () => {
    for (const name of ["recorded", "shuffled", "home", "otherHome"] as const) folders[name] = temporaryFolder()
    writeRecordings(folders.recorded, recordings(keepOrder))
    writeRecordings(folders.shuffled, recordings(shuffle))
    first = await replayFolder(folders.home, folders.recorded)
    await replayFolder(folders.otherHome, folders.shuffled)
  })
  afterAll(() => Object.values(folders).forEach(removeFolder))

  it("come from a partial run that names the reports that were not recorded", () => {
    expect(first.code).toBe(4)
    expect(parseRunRecord(first)).toMatchObject({
      outcome: "partial",
      origin: "replay",
      generation: "larder-000001",
      rows_rejected: 0
    })
    expect(first.stderr).toMatch(/gov-mars\/1602: There is no recording of GET .*\/1602\. Looked in /)
    expect(first.stderr).not.toMatch(/gov-mars\/1603: There is no recording/)
    // two were shortened by hand and keep the counts of the service
    expect(first.stderr).toMatch(/40 Pound Block .*: The payload of \S+ states 3785 rows and contains 20\./)
    expect(parseRunRecord(first).left_out).toContainEqual(expect.objectContaining({ kind: "partial" }))
  })

  it("contain the block price of 2026-08-29, 1.6140, and the revision of 2026-09-05", async () => {
    const metric = "cheese_block_sales_price_weekly"
    const values = await valuesOf(folders.home, metric)
    expect(values).toContain("2026-08-29 1.6140")
    expect(values).toContain("2026-09-05 1.6121")
    expect(await valuesOf(folders.home, metric, "2026-09-10 23:59:59")).toContain("2026-09-05 1.6133")
    const [versions] = await query(
      folders.home,
      `select value_text from commodity.observation_version where metric_name = '${metric}' and observed_on = '2026-09-12' group by all order by min(published_at)`
    )
    expect(versions).toEqual([{ value_text: "1.5790" }, { value_text: "1.5793" }])
  })

  it("end with the last four weeks of barrels, although they were restated as null", async () => {
    const values = await valuesOf(folders.home, "cheese_barrel_sales_price_weekly")
    expect(values.slice(-4)).toEqual([
      "2025-05-10 1.9056",
      "2025-05-17 1.8935",
      "2025-05-24 1.9268",
      "2025-05-31 1.9495"
    ])
    const [[barrels] = []] = await query(
      folders.home,
      "select last_observed_on::varchar as last_observed_on, measure from commodity.metric where metric_name = 'cheese_barrel_sales_price_weekly'"
    )
    expect(barrels).toEqual({ last_observed_on: "2025-05-31", measure: "cheese_500_Price" })
  })

  it("show every revision of nonfat dry milk as of every day", async () => {
    const prints = powderPrints()
    const asOf = new Map<string, Map<string, string>>()
    const known = new Map<string, string>()
    for (const { price, seen, week } of prints) {
      known.set(week, price)
      asOf.set(seen, new Map(known))
    }
    const days = [...asOf.keys()]
    const results = await query(
      folders.otherHome,
      ...days.map(
        (day) =>
          `select observed_on::varchar as week, value from commodity.observation_as_of('${day} 23:59:59') where metric_name = 'nonfat_dry_milk_sales_price_weekly' order by 1`
      )
    )
    for (const [index, day] of days.entries()) {
      const found = results[index]?.map(({ value, week }) => `${week} ${Number(value)}`)
      const expected = [...(asOf.get(day) ?? [])].map(([week, price]) => `${week} ${Number(price)}`).toSorted()
      expect(found, day).toEqual(expected)
    }
    const last = await valuesOf(folders.otherHome, "nonfat_dry_milk_sales_price_weekly")
    expect(last).toEqual([...known].map(([week, price]) => `${week} ${price}`).toSorted())
  })

  it("contain every Class IV price except that of March 2012, which was never published", async () => {
    const published = classIVMonths().filter(({ announced }) => announced > 0)
    expect(published.length).toBe(172)
    const values = await valuesOf(folders.home, "milk_class_iv_price_monthly")
    expect(values.map((value) => value.split(" ")[1])).toEqual(published.map(({ announced }) => announced.toFixed(2)))
    expect([values[0], values.at(-1)]).toEqual(["2012-04-01 14.80", "2026-07-01 18.34"])
  })

  it("contain every spot close of nonfat dry milk", async () => {
    const values = await valuesOf(folders.home, "nonfat_dry_milk_exch_spot_close_daily")
    expect(values).toEqual(spotCloses().map(({ date, price }) => `${date} ${price}`))
  })

  it("contain every monthly average of butter, although six reports of 2025 lack the exchange", async () => {
    const { butter_grade_aa: prices } = butterMonths()
    const expected = Object.values(prices).flatMap((years, index) =>
      Object.entries(years).map(([year, price]) => `${year}-${String(index + 1).padStart(2, "0")}-01 ${price}`)
    )
    expect(await valuesOf(folders.home, "butter_exch_spot_average_monthly")).toEqual(expected.toSorted())
  })

  it("keep the digits of the report: 2 stays 2", async () => {
    const metric = "whey_protein_concentrate_34_us_central_and_west_mostly_low_weekly"
    expect(await valuesOf(folders.home, metric)).toEqual(["2026-08-21 2"])
  })

  it("pass the four market checks without a bad row", async () => {
    const market = ["class_iv_follows_its_formula", "closes_on_ticks", "closes_on_weekdays", "mostly_within_range"]
    const [bad] = await query(
      folders.home,
      `select name, bad_rows::integer as bad_rows from ingest.check_result where name in (${market.map((name) => `'${name}'`)}) order by name`
    )
    expect(bad).toEqual(market.map((name) => ({ name, bad_rows: 0 })))
  })

  it("are the same if the rows have another order", async () => {
    const everything =
      "select * exclude (run_id, raw_sha256, fetched_at, source_row) from commodity.observation_version order by all"
    const [[recorded, current], [other, otherCurrent]] = await Promise.all([
      query(folders.home, everything, "select * from commodity.observation order by all"),
      query(folders.otherHome, everything, "select * from commodity.observation order by all")
    ])
    expect(other).toEqual(recorded)
    expect(otherCurrent).toEqual(current)
  })

  it("have the report titles that the service lists", () => {
    for (const { report_title, slug_id } of reportTitles()) {
      const feed = feedsByName.get(`gov-mars/${slug_id}`)
      if (feed !== undefined) expect(feed.title).toBe(report_title)
    }
  })
}

describeSamples("gov", "the real numbers", testRealNumbers)
