import { assert, describe, it } from "@effect/vitest"
import { n } from "@larder/test/support/pipelines/commodity-payloads.ts"
import { parseColumn } from "../catalog/cells.ts"
import { listFields, type PayloadRow } from "../decode/payload.ts"
import { resolveColumn } from "./mapping.ts"

const resolve = (rule: string, rows: ReadonlyArray<PayloadRow>, selected = rows) =>
  resolveColumn(parseColumn(rule), listFields(rows), selected)

describe("a column by name", () => {
  it("is found in the spelling of the payload", () => {
    assert.strictEqual(resolve("close_price", [{ close_price: n("1.39") }]), "close_price")
    assert.strictEqual(resolve("Butter_Price", [{ butter_price: "1.39" }]), "butter_price")
  })

  it("fails when it is missing, and names the columns of the payload", () => {
    assert.throws(
      () => resolve("close_price", [{ report_date: "09/29/2026", closing: n("1.39") }]),
      /The report has changed: the column close_price is missing\. The payload has: report_date, closing\./
    )
  })

  it("is undefined when it is optional and missing", () => {
    assert.isUndefined(resolve("mostly_low_price ?", [{ price_min: n("1") }]))
    assert.strictEqual(resolve("mostly_low_price ?", [{ mostly_low_price: null }]), "mostly_low_price")
  })

  it("is never replaced by another one with the same ending", () => {
    const barrel = { cheese_500_Wtd_Price: "1.8568", cheese_500_Price: "1.9495" }
    assert.strictEqual(resolve("cheese_500_Price", [barrel]), "cheese_500_Price")
    assert.throws(
      () => resolve("cheese_500_Price", [{ cheese_500_Wtd_Price: "1.8568" }]),
      /cheese_500_Price is missing/
    )
  })

  it("is the one candidate that the payload has; two or none fail", () => {
    const rule = "class_1_Price | class_1_base_Price"
    assert.strictEqual(resolve(rule, [{ class_1_base_Price: "21.33" }]), "class_1_base_Price")
    assert.throws(
      () => resolve(rule, [{ base_price: "21.33" }]),
      /the column class_1_Price or class_1_base_Price is missing\. The payload has: base_price\./
    )
    assert.throws(
      () => resolve(rule, [{ class_1_base_Price: "21.33", class_1_Price: "22.18" }]),
      /could be class_1_Price or class_1_base_Price; a wrong guess/
    )
  })
})

describe("a column by the words in its name", () => {
  const rule = "weekly Av ~ weekly av"

  it.each(["weekly Av", "weekly_average", "Weekly Avg Price"])("accepts the name %s", (name) => {
    assert.strictEqual(resolve(rule, [{ commodity: "Butter", close_price: n("1.39"), [name]: n("1.3915") }]), name)
  })

  it("fails when two columns fit, and names both", () => {
    assert.throws(
      () => resolve(rule, [{ weekly_average: n("1.39"), weekly_average_change: n("-0.01") }]),
      /could be weekly_average or weekly_average_change; a wrong guess/
    )
  })

  it("fails if no column matches, and names the columns of the payload", () => {
    assert.throws(
      () => resolve(rule, [{ average: n("1.39") }]),
      /contains weekly and av is missing\. The payload has: average\./
    )
  })

  it("fails when the column contains only strings", () => {
    assert.throws(() => resolve(rule, [{ "weekly Av": "up" }, { "weekly Av": "down" }]), /with numbers .* is missing/)
  })

  it("is found despite one cell without a number, and without any value", () => {
    const rows = [{ "weekly Av": n("1.39") }, { "weekly Av": "no trading" }, { "weekly Av": n("1.4") }]
    assert.strictEqual(resolve(rule, rows), "weekly Av")
    assert.strictEqual(resolve(rule, [{ "weekly Av": null }]), "weekly Av")
  })

  it("is undefined when the payload has no row of the product", () => {
    assert.isUndefined(resolve(rule, [{ "weekly Av": n("1.39") }], []))
  })
})

describe("the column with numbers", () => {
  const rule = "monthly_average ~ only number"
  const row = {
    commodity: "Butter",
    slug_id: n("1623"),
    report_year: "2026",
    package: "40",
    grade: "93",
    report_month: "8",
    report_end_date: "08/31/2026",
    office_code: "12"
  }

  it("is found even if other numbers identify or date a row", () => {
    assert.strictEqual(resolve(rule, [{ ...row, price: n("1.4719") }]), "price")
    assert.strictEqual(resolve(rule, [{ ...row, month_average: n("1.4719") }]), "month_average")
  })

  it("fails when two columns or none contain numbers", () => {
    assert.throws(
      () => resolve(rule, [{ ...row, price_min: n("1"), price_max: n("2") }]),
      /could be price_min or price_max/
    )
    assert.throws(() => resolve(rule, [row]), /the column with numbers is missing/)
  })
})
