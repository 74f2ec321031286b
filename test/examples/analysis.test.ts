/**
 * All questions of `examples/analysis.sql`, as prepared statements: in sessions of each time zone, over a snapshot, and after
 * stores were read again. `analysis-prices.test.ts` and `analysis-foods.test.ts` compute their results a second time.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, dataSets, writeSnapshot } from "@larder/warehouse"
import type { Row } from "@larder/warehouse/duckdb.ts"
import type { Parts } from "@larder/warehouse/opened/parts.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { questions } from "../support/analysis-questions.ts"
import { queryInEachZone } from "../support/warehouse/analyst.ts"
import { readSpot } from "./analysis-payloads.ts"

const numbers = [...questions.keys()]
const getStatement = (number: number) => questions.get(number)?.replace(/;$/, "") ?? ""
const statements = numbers.map(getStatement)
/** By time zone of the session, in the order of the questions. */
let resultsByZone: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<Row>>> = new Map()
const getResults = () => new Map(numbers.map((number, index) => [number, resultsByZone.get("UTC")?.[index] ?? []]))

const getFolder = () => path.join(inject("sampleHome"), "warehouse")
/** The files of the data sets, under the names that people open. */
const getParts = (): Parts => ({
  parts: dataSets.map((dataSet) => ({
    dataSet,
    file: path.join(getFolder(), `${dataSet.about.pipeline}.duckdb`)
  })),
  ingestion: path.join(getFolder(), "ingestion.duckdb")
})

beforeAll(async () => {
  const sessions = queryInEachZone(path.join(getFolder(), "larder.duckdb"), statements)
  resultsByZone = await Effect.runPromise(Effect.provide(sessions, NodeServices.layer))
})

describe("the analyst's notebook", () => {
  it("has fourteen questions, each with one statement", () => {
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
    for (const sql of questions.values()) expect(sql.match(/;/g)).toHaveLength(1)
  })
  it.each(["America/Chicago", "Asia/Kolkata"])("returns the same results in a session of %s", (zone) => {
    expect(resultsByZone.get(zone)).toHaveLength(14)
    expect(resultsByZone.get(zone)).toEqual(resultsByZone.get("UTC"))
  })
  it("10: finds no price change in the week of the first read", () => {
    expect(getResults().get(10)).toEqual([])
  })
  it("11: counts every subject of the bundled samples, which are never late", () => {
    const rows = getResults().get(11) ?? []
    expect(new Set(rows.map(({ pipeline }) => pipeline))).toEqual(new Set(dataSets.map(({ about }) => about.pipeline)))
    expect(rows.map(({ kind, subjects }) => [kind, subjects])).toContainEqual(["store", "3"])
    for (const { state } of rows) expect(state).toBe("sample")
  })
})

describe("the analyst's notebook over a snapshot, and after stores were read again", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-analysis-"))
  const snapshotResults = new Map<number, ReadonlyArray<Row>>()
  const laterResults = new Map<number, ReadonlyArray<Row>>()
  const hourAgo = "make_timestamp(epoch_us(now())) - interval 1 hour"
  // The first read was ten days ago. An hour ago, one price rose by a tenth, another variant only became unavailable, a third
  // changed its price and is gone, and a fourth has another currency.
  const readAgain = `
    update storefront.variant_change set seen_at = seen_at - interval 10 days;
    insert into storefront.variant_change by name
      select * exclude (place) replace (
        ${hourAgo} as seen_at,
        if(place = 3, 'gone', 'changed') as change,
        if(place = 2, price, price * 1.1) as price,
        if(place = 4, 'XXX', currency) as currency,
        place <> 2 as available
      )
      from (select *, row_number() over (order by variant_id) as place from storefront.variant_change where price > 0)
      where place <= 4`
  const widestPrice = `
    update commodity.observation_version set value = 999999999999.999999
    where observed_on = '2026-09-01' and metric_name in ('cheese_survey_average_monthly', 'dry_whey_survey_average_monthly')`

  // one day, and a whole week
  const dropBarrels = `
    delete from commodity.observation_version
    where metric_name = 'cheese_barrel_exch_spot_close_daily'
      and (observed_on = '2026-09-28' or observed_on between '2026-09-14' and '2026-09-18')`
  const loseBarcodes = "update branded_food.version set is_current_of_gtin = false"
  const claimLive = "update ingest.data_set set is_sample = false"

  beforeAll(() => {
    const file = path.join(folder, "later.duckdb")
    return Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          yield* writeSnapshot(file, getParts())
          yield* Effect.sync(() => chmodSync(file, 0o600))
          const db = yield* DuckDb.readWrite(file)
          for (const number of numbers) snapshotResults.set(number, yield* db.rows(getStatement(number)))
          for (const change of [readAgain, widestPrice, dropBarrels, loseBarcodes, claimLive]) yield* db.run(change)
          for (const number of [3, 4, 7, 9, 10, 11]) laterResults.set(number, yield* db.rows(getStatement(number)))
        })
      ).pipe(Effect.provide(NodeServices.layer))
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("has the same results from the snapshot", () => {
    expect(snapshotResults).toEqual(getResults())
  })
  it("has the values as of a day in the documented view, whatever database is in use", async () => {
    const [, view = "", condition = ""] =
      /known on a day are\s+`(\S+)` with `(date '[^`]+)`/.exec(readFileSync("docs/warehouse.md", "utf8")) ?? []
    const day = "date '2026-09-29'"
    const columns = "metric_name, observed_on, value"
    const asOf = (macro: string) => `select ${columns} from ${macro}(${day}) order by all`
    const rows = await Effect.runPromise(
      Effect.gen(function* () {
        const db = yield* DuckDb.memory
        yield* db.run(`attach '${path.join(folder, "later.duckdb")}' as old (read_only); use old`)
        const inOld = yield* db.rows(asOf("commodity.observation_as_of"))
        yield* db.run(`attach '${path.join(getFolder(), "larder.duckdb")}' as larder (read_only); use larder`)
        const recipe = `select ${columns} from ${view} where ${condition.replace(/date '[^']+'/, day)} order by all`
        return {
          inOld,
          recipe: yield* db.rows(recipe),
          misled: yield* db.rows(asOf("old.commodity.observation_as_of"))
        }
      }).pipe(Effect.scoped)
    )
    expect(rows.inOld.length).toBeGreaterThan(1_000)
    expect(rows.recipe).toEqual(rows.inOld)
    expect(rows.misled.length).toBeGreaterThan(rows.inOld.length) // those that only the database in use has
  })
  it("3: compares blocks and barrels on the same days, and has no mean over fewer than 52 weeks", () => {
    const rows = laterResults.get(3) ?? []
    expect(rows.map(({ week }) => week).slice(0, 3)).toEqual(["2026-09-28", "2026-09-21", "2026-09-07"])
    expect(rows.map(({ mean_of_52_weeks }) => mean_of_52_weeks).slice(0, 3)).toEqual([null, null, expect.any(String)])
    const [newest] = rows
    const cents = 100 * (Number(newest?.block_price) - Number(newest?.barrel_price))
    expect(newest?.days).toBe("1")
    expect(Number(newest?.spread_in_cents)).toBeCloseTo(cents, 4)
    for (const day of ["40 pound Block", "Barrels"].map((packaging) => readSpot("Cheese", packaging).get("2026-09-29")))
      expect([Number(newest?.block_price), Number(newest?.barrel_price)]).toContain(day)
  })
  it("4: computes with the largest price that the warehouse can hold", () => {
    expect(laterResults.get(4)).toHaveLength(24)
    expect(String(laterResults.get(4)?.[0]?.computed).length).toBeGreaterThan(12)
  })
  it("7 and 9: count only labels with a barcode, once for each", () => {
    expect([laterResults.get(7), laterResults.get(9)]).toEqual([[], []])
  })
  it("10: shows only a price that rose, its percentage and its start", () => {
    const rows = laterResults.get(10) ?? []
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ percent: 10 })
    expect(Number(rows[0]?.price_now)).toBeCloseTo(1.1 * Number(rows[0]?.price_before), 2)
    expect(Math.abs(Date.parse(`${rows[0]?.seen_at}Z`) + 3_600_000 - Date.now())).toBeLessThan(600_000)
  })
  it("11: finds metrics late that come from the source, and says since when", () => {
    const late = (laterResults.get(11) ?? []).filter(({ state }) => state === "late")
    expect(late.map(({ kind }) => kind)).toContain("metric")
    for (const { why } of late) expect(why).toMatch(/late from \d{4}-\d\d-\d\d/)
  })
})
