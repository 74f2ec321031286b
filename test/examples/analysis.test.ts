/** Each question of `examples/analysis.sql`, with the warehouse of the bundled samples. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
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

const statements = [...questions].map(([number, sql]) => [number, sql.replace(/;$/, "")] as const)
const results = new Map<number, ReadonlyArray<Row>>()
/** By time zone of the session, in the order of the questions. */
let resultsByZone: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<Row>>> = new Map()
const getResult = (number: number) => results.get(number) ?? []

const getFolder = () => path.join(inject("sampleHome"), "warehouse")
const getWarehouse = () => path.join(getFolder(), "larder.duckdb")
/** The files of the data sets, under the names that people open. */
const getParts = (): Parts => ({
  parts: dataSets.map((dataSet) => ({
    dataSet,
    file: path.join(getFolder(), `${dataSet.about.pipeline}.duckdb`)
  })),
  ingestion: path.join(getFolder(), "ingestion.duckdb")
})
beforeAll(async () => {
  const sessions = queryInEachZone(
    getWarehouse(),
    statements.map(([, sql]) => sql)
  )
  resultsByZone = await Effect.runPromise(Effect.provide(sessions, NodeServices.layer))
  for (const [index, [number]] of statements.entries()) results.set(number, resultsByZone.get("UTC")?.[index] ?? [])
})

describe("the analyst's notebook", () => {
  it("has thirteen questions, each with one statement", () => {
    expect([...questions.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    for (const sql of questions.values()) expect(sql.match(/;/g)).toHaveLength(1)
  })
  it.each(["America/Chicago", "Asia/Kolkata"])("returns the same results in a session of %s", (zone) => {
    expect(resultsByZone.get(zone)).toHaveLength(13)
    expect(resultsByZone.get(zone)).toEqual(resultsByZone.get("UTC"))
  })
  it("1: shows how fresh each data set is", () => {
    expect(
      getResult(1).map(({ generation, pipeline, rows_rejected }) => [pipeline, generation, rows_rejected])
    ).toEqual([
      ["branded-foods", "larder-000002", "0"],
      ["commodities", "larder-000001", "0"],
      ["storefronts", "larder-000003", "1"]
    ])
  })
  it("2: compares survey prices with the exchange's week", () => {
    expect(getResult(2)).toHaveLength(8)
    expect(getResult(2)[0]).toEqual({
      week_ending: "2026-09-26",
      survey_price: "1.387100",
      spot_price: "1.3560",
      difference: "0.0311"
    })
  })
  it("3: counts revised prices of the last 52 weeks, including a discontinued series", () => {
    expect(getResult(3).map(({ slug, weeks }) => [slug, weeks])).toEqual(
      ["butter", "cheese-barrel", "cheese-block", "dry-whey", "nonfat-dry-milk"].map((product) => [
        `${product}-sales-price-weekly`,
        "52"
      ])
    )
    for (const { revised } of getResult(3)) expect(Number(revised)).toBeGreaterThan(10)
  })
  it("4: finds the prices that a backtest would have used", () => {
    expect(getResult(4)).toContainEqual({
      slug: "nonfat-dry-milk-sales-price-weekly",
      observed_on: "2026-07-04",
      known_then: "1.791200",
      known_now: "1.784600"
    })
    expect(getResult(4).every(({ observed_on }) => String(observed_on) < "2026-07-10")).toBe(true)
  })
  it("5: ranks categories by salt", () => {
    const salt = getResult(5).map(({ sodium_mg }) => Number(sodium_mg))
    expect(salt).toHaveLength(10)
    expect(salt).toEqual(salt.toSorted((a, b) => b - a))
  })
  it("6: relates protein to energy", () => {
    expect(getResult(6)).toHaveLength(5)
    for (const { calories, protein, protein_per_100_kcal } of getResult(6)) {
      expect(Number(protein_per_100_kcal)).toBeCloseTo((100 * Number(protein)) / Number(calories), 1)
    }
  })
  it("7: finds changed recipes, from an earlier label to a later one", () => {
    expect(getResult(7)).toHaveLength(10)
    for (const { published_after, published_before, sugars_after, sugars_before } of getResult(7)) {
      expect(String(published_before) < String(published_after)).toBe(true)
      expect(Math.abs(Number(sugars_after) / Number(sugars_before) - 1)).toBeGreaterThanOrEqual(0.2)
    }
  })
  it("8: lists reductions, the deepest first", () => {
    expect(getResult(8)).toHaveLength(10)
    expect(getResult(8)[0]).toMatchObject({ price: "0.6500", compare_at_price: "0.9000", percent_off: 28 })
  })
  it("9: finds no price change after the first read", () => {
    expect(getResult(9)).toEqual([])
  })
  it("10: prices food by the kilo, in each currency", () => {
    const found = getResult(10).find(({ sub_category }) => sub_category === "bakery")
    expect(found).toEqual({ sub_category: "bakery", currency: "GBP", variants: "22", per_kg: 39.17 })
  })
  it("11: traces a number to its payload and row", () => {
    const { raw_sha256, source_row, url, value_text } = getResult(11)[0] ?? {}
    expect([value_text, source_row]).toEqual(["1.3871", "5"])
    expect(url).toBe("https://mpr.datamart.ams.usda.gov/services/v1.1/reports/2993/Butter%20Prices%20and%20Sales")
    expect(raw_sha256).toMatch(/^[0-9a-f]{64}$/)
  })
  it("12: names rejected rows and the reasons", () => {
    const reason = "duplicate id OR-1013 (first seen in an earlier row)"
    expect(getResult(12)).toEqual([
      expect.objectContaining({ feed: "store/orchard-pantry.example", position: "35", reason })
    ])
  })
  it("13: counts the checks of every pipeline, which found no rows", () => {
    expect(new Set(getResult(13).map(({ pipeline }) => pipeline)).size).toBe(3)
    for (const { found_by, rows_found } of getResult(13)) expect([rows_found, found_by]).toEqual(["0", null])
  })
})

describe("the analyst's notebook over a snapshot, and after a second read", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-analysis-"))
  const snapshotResults = new Map<number, ReadonlyArray<Row>>()
  const reread = new Map<number, ReadonlyArray<Row>>()
  const unlisted = "select id from storefront.sighting where not is_listed"
  // one price rises by a tenth; another variant changes only its availability, not its price
  const raisePrice = `insert into storefront.variant_change by name
    select * replace (seen_at + interval 1 day as seen_at, 'changed' as change, not available as available,
      if(row_number() over (order by variant_id) = 1, price * 1.1, price) as price)
    from storefront.variant_change where price > 0 order by variant_id limit 2`
  // the product has one variant, with a reduced price
  const withdrawProduct = `update storefront.sighting set is_listed = false, last_seen_at = listed_since
    where id = (select product_id from storefront.product where title = 'Harbour Almond Croissant')`
  beforeAll(() => {
    const file = path.join(folder, "later.duckdb")
    return Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          yield* writeSnapshot(file, getParts())
          yield* Effect.sync(() => chmodSync(file, 0o600))
          const db = yield* DuckDb.readWrite(file)
          for (const [number, sql] of statements) snapshotResults.set(number, yield* db.rows(sql))
          yield* db.run(raisePrice)
          yield* db.run(withdrawProduct)
          yield* db.run(`delete from storefront.listing where product_id in (${unlisted})`)
          for (const number of [8, 9, 10]) reread.set(number, yield* db.rows(questions.get(number)?.slice(0, -1) ?? ""))
        })
      ).pipe(Effect.provide(NodeServices.layer))
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("has the same results from the snapshot", () => {
    expect(snapshotResults).toEqual(results)
  })
  it("8: leaves out a reduced product that is no longer listed", () => {
    const products = (rows: ReadonlyArray<Row> | undefined) => rows?.map(({ product }) => product)
    expect(products(getResult(8))).toContain("Harbour Almond Croissant")
    expect(products(reread.get(8))).toHaveLength(10)
    expect(products(reread.get(8))).not.toContain("Harbour Almond Croissant")
  })
  it("9: shows a price increase, its percentage and its start", () => {
    const rows = reread.get(9) ?? []
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ percent: 10 })
    expect(Number(rows[0]?.price_after)).toBeCloseTo(1.1 * Number(rows[0]?.price_before), 2)
  })
  it("10: leaves out a product that is no longer listed", () => {
    const bakery = reread.get(10)?.find(({ sub_category }) => sub_category === "bakery")
    expect(bakery).toMatchObject({ currency: "GBP", variants: "21" })
  })
})
