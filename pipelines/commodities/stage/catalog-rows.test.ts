import { assert, describe, it } from "@effect/vitest"
import { marketLevels, regions } from "@larder/schemas/commodity/places.ts"
import { catalog } from "../catalog.ts"
import { catalogRows } from "./catalog-rows.ts"

const { metrics, products, series } = catalog()

describe("the catalog in the warehouse", () => {
  const parseRows = (name: string, measures = new Map<string, string>()) =>
    catalogRows(catalog(), measures).flatMap(({ rows, table }) => (table.name === name ? [...rows] : []))
  /** The distinct values of some columns, over all metrics or those with a part of a name. */
  const distinct = (columns: ReadonlyArray<string>, part = "") => {
    const rows = parseRows("metric").filter((row) => String(Reflect.get(row, "metric_name")).includes(part))
    return [...new Set(rows.map((row) => columns.map((column) => Reflect.get(row, column)).join(": ")))].toSorted()
  }

  it("has one text for each unit, and none for two", () => {
    assert.deepStrictEqual(distinct(["unit", "unit_text"]), [
      "usd_per_cwt: US dollars per hundredweight",
      "usd_per_lb: US dollars per pound",
      "usd_per_lb_basis: US dollars per pound above or below the exchange price",
      "usd_per_metric_ton: US dollars per metric ton"
    ])
  })

  it("has regions and market levels that the comments of the columns list, and no others are listed", () => {
    assert.deepStrictEqual(distinct(["region"]), [...regions])
    assert.deepStrictEqual(distinct(["market_level"]), [...marketLevels])
  })

  it("has means of prices", () => {
    assert.deepStrictEqual(distinct(["aggregation"]), ["mean"])
  })

  it("has the frequency in words, with the day on which weeks end", () => {
    assert.deepStrictEqual(distinct(["frequency", "frequency_text"]), [
      "biweekly: Biweekly, ending Friday",
      "daily: Daily",
      "monthly: Monthly",
      "weekly: Weekly, ending Friday",
      "weekly: Weekly, ending Saturday"
    ])
    assert.deepStrictEqual(distinct(["frequency_text"], "_sales_price_"), ["Weekly, ending Saturday"])
  })

  it("has the section and the schedule of final values where a report has one", () => {
    const butter = ["gov-mpr/2993/Butter Prices and Sales", "gov-mpr/2993/Final Butter Prices and Sales"]
    assert.deepStrictEqual(distinct(["feed", "final_feed"], "butter_sales"), [butter.join(": ")])
    const schedules = distinct(["publishes_on", "final_publishes_on"], "_sales_price_")
    const final = "Wednesday of the week 5 weeks later, 13:15"
    assert.deepStrictEqual(schedules, [`Wednesday of the next week, 13:15: ${final}`])
    const others = parseRows("metric").filter((row) => Reflect.get(row, "final_feed") === null)
    assert.strictEqual(others.length, metrics.length - 5)
  })

  it("has a title for each metric, which names powders and the survey in one way", () => {
    const titles = distinct(["title"])
    assert.strictEqual(titles.length, metrics.length)
    for (const title of titles) {
      assert.notMatch(title, /dry whole milk|dry skim|manufacturer|sales/i)
      assert.match(title, /, (daily close|(weekly|monthly) average|weekly|biweekly|monthly)$/)
    }
    assert.deepStrictEqual(distinct(["title"], "butter_sales"), ["Butter, survey, weekly average"])
  })

  it("has notes where a user must know more, with the other name of a powder, and else null", () => {
    const [notes = ""] = distinct(["notes"], "dry_whole_milk_us_mostly_low")
    assert.match(notes, /^The low end of the range in which most sales were made\. .* call it dry whole milk\.$/)
    assert.match(distinct(["notes"], "skim_milk_powder_europe_price_min")[0] ?? "", /nonfat dry milk/)
    assert.match(distinct(["notes"], "nonfat_dry_milk_sales")[0] ?? "", /mandatory survey.* skim milk powder/)
    assert.match(distinct(["notes"], "butter_basis_us_west_price_max")[0] ?? "", /not a price.* high end/)
    assert.match(distinct(["notes"], "cheese_barrel_sales")[0] ?? "", /as sold/)
    assert.match(distinct(["notes"], "milk_class_i_price")[0] ?? "", /base price/)
    const silent = parseRows("metric").filter((row) => Reflect.get(row, "notes") === null)
    assert.isTrue(silent.some((row) => Reflect.get(row, "metric_name") === "butterfat_price_monthly"))
  })

  it("shows the documented column as the measure until the real one is known", () => {
    const measure = (measures?: Map<string, string>) =>
      parseRows("metric", measures).find(
        (row) => Reflect.get(row, "metric_name") === "butter_exch_spot_average_monthly"
      )
    assert.strictEqual(Reflect.get(measure() ?? {}, "measure"), "monthly_average")
    const found = new Map([["butter_exch_spot_average_monthly", "monthly Av"]])
    assert.strictEqual(Reflect.get(measure(found) ?? {}, "measure"), "monthly Av")
  })

  it("has the licence of the exchange only for spot prices", () => {
    const spot = ["gov-mars/1602", "gov-mars/1603", "gov-mars/1623"]
    for (const row of parseRows("metric")) {
      const [feed, licence, name] = ["feed", "licence", "metric_name"].map((column) => Reflect.get(row, column))
      assert.strictEqual(licence, spot.includes(feed) ? "cme_group" : "public_domain", name)
    }
    const markets = series.map(({ market, metric_name }) => [metric_name, market === "Chicago Mercantile Exchange"])
    const licences = new Map(metrics.map(({ licence, metric_name }) => [metric_name, licence === "cme_group"]))
    assert.deepStrictEqual(
      markets,
      series.map(({ metric_name }) => [metric_name, licences.get(metric_name)])
    )
  })

  it("has every metric, series and product", () => {
    assert.deepStrictEqual(
      [parseRows("metric").length, parseRows("series").length, parseRows("product").length],
      [metrics.length, 24, products.length]
    )
  })
})
