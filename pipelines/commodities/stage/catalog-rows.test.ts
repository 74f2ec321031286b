import { assert, describe, it } from "@effect/vitest"
import { catalog } from "../catalog.ts"
import { catalogRows } from "./catalog-rows.ts"

const { metrics, products, series } = catalog()

describe("the catalog in the warehouse", () => {
  const parseRows = (name: string, measures = new Map<string, string>()) =>
    catalogRows(catalog(), measures).flatMap(({ rows, table }) => (table.name === name ? [...rows] : []))

  it("shows the documented column as the measure until the real one is known", () => {
    const measure = (measures?: Map<string, string>) =>
      parseRows("catalog_metric", measures).find(
        (row) => Reflect.get(row, "metric_name") === "butter_exch_spot_average_monthly"
      )
    assert.strictEqual(Reflect.get(measure() ?? {}, "measure"), "monthly_average")
    const found = new Map([["butter_exch_spot_average_monthly", "monthly Av"]])
    assert.strictEqual(Reflect.get(measure(found) ?? {}, "measure"), "monthly Av")
  })

  it("has the licence of the exchange only for spot prices", () => {
    const spot = ["gov-mars/1602", "gov-mars/1603", "gov-mars/1623"]
    for (const row of parseRows("catalog_metric")) {
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
      [parseRows("catalog_metric").length, parseRows("series").length, parseRows("product").length],
      [metrics.length, 24, products.length]
    )
  })
})
