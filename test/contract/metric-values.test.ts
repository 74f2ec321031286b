import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const getValues = (query: string) => api.get(`/v1/commodities/metric-values?${query}`)

interface Result {
  readonly metric_name: string
  readonly unit: string
  readonly from: string | null
  readonly to: string | null
  readonly points: ReadonlyArray<{ readonly date: string; readonly value: number }>
}
const getResults = async (query: string) =>
  ((await getValues(query)).json as { readonly data: ReadonlyArray<Result> }).data
const getRanges = async (query: string) => (await getResults(query)).map(({ from, to }) => [from, to])
const getResult = async (query: string): Promise<Result> => {
  const [result] = await getResults(query)
  if (result === undefined) throw new Error(`${query} returned no result`)
  return result
}

const blocks = "cheese_block_sales_price_weekly"
const daily = "butter_exch_spot_close_daily"
const monthly = "milk_class_iv_price_monthly"
const biweekly = "cheddar_oceania_price_min_biweekly"
const withoutValues = "casein_acid_us_mostly_low_weekly"

describe("metric values", () => {
  it("returns name, unit, effective range and points, with the published digits", async () => {
    expect((await getValues(`metrics=${blocks}&from=2026-08-20&to=2026-09-01`)).text).toBe(
      `{"data":[{"metric_name":"${blocks}","unit":"usd_per_lb","from":"2026-08-20","to":"2026-09-01","points":[{"date":"2026-08-22","value":1.6247},{"date":"2026-08-29","value":1.6140}]}]}`
    )
  })

  it("returns one entry per requested name, in the requested order, including duplicates", async () => {
    const data = await getResults(`metrics=${monthly},${blocks},${monthly}&from=2026-07-01&to=2026-07-01`)
    expect(data.map(({ metric_name, unit }) => [metric_name, unit])).toEqual([
      [monthly, "usd_per_cwt"],
      [blocks, "usd_per_lb"],
      [monthly, "usd_per_cwt"]
    ])
    expect(data[0]).toEqual(data[2])
  })

  it("returns the same digits as the series with the same name", async () => {
    const { json } = await api.get("/v1/commodities")
    const { data } = json as { data: ReadonlyArray<{ series: ReadonlyArray<{ slug: string }> }> }
    const slugs = data.flatMap(({ series }) => series.map(({ slug }) => slug))
    const prices = await api.get(`/v1/commodities/prices?series=${slugs.join(",")}`)
    const metrics = await getValues(
      `metrics=${slugs.map((slug) => slug.replaceAll("-", "_")).join(",")}&from=0001-01-01`
    )
    // compared as text, because the digits must be equal, not only the numbers
    const matchPoints = (text: string) => [...text.matchAll(/"points":\[[^\]]*\]/g)].map(([points]) => points)
    expect(matchPoints(metrics.text).length).toBe(24)
    expect(matchPoints(metrics.text)).toEqual(matchPoints(prices.text))
  })

  it("uses the metric's own unit: dollars per metric ton abroad, a basis for a basis", async () => {
    const units = await getResults(`metrics=${biweekly},butter_basis_us_west_price_min_weekly,${monthly}`)
    expect(units.map(({ unit }) => unit)).toEqual(["usd_per_metric_ton", "usd_per_lb_basis", "usd_per_cwt"])
  })
})

describe("the default range", () => {
  it("starts one year before the newest value for daily, weekly and biweekly metrics, five for monthly ones", async () => {
    expect(await getRanges(`metrics=${daily},${blocks},${biweekly},${monthly}`)).toEqual([
      ["2025-09-29", "2026-09-29"],
      ["2025-09-26", "2026-09-26"],
      ["2025-09-25", "2026-09-25"],
      ["2021-09-01", "2026-09-01"]
    ])
  })

  it("includes the readings of its first and its last day", async () => {
    const { points } = await getResult(`metrics=${monthly}`)
    expect(points.length).toBe(61)
    expect([points[0]?.date, points.at(-1)?.date]).toEqual(["2021-09-01", "2026-09-01"])
    const weekly = await getResult(`metrics=${blocks}`)
    expect([weekly.points[0]?.date, weekly.points.at(-1)?.date]).toEqual(["2025-09-27", "2026-09-26"])
  })

  it("ends with each metric's newest value, even for a discontinued metric", async () => {
    const data = await getResults(`metrics=cheese_barrel_sales_price_weekly,${blocks}`)
    expect(data.map(({ from, points, to }) => [from, to, points.at(-1)])).toEqual([
      ["2024-05-31", "2025-05-31", { date: "2025-05-31", value: 1.9495 }],
      ["2025-09-26", "2026-09-26", { date: "2026-09-26", value: 1.4958 }]
    ])
  })

  it("is counted back from `to` when `to` is given", async () => {
    expect(await getRanges(`metrics=${daily},${blocks},${biweekly},${monthly}&to=2020-06-30`)).toEqual([
      ["2019-06-30", "2020-06-30"],
      ["2019-06-30", "2020-06-30"],
      ["2019-06-30", "2020-06-30"],
      ["2015-06-30", "2020-06-30"]
    ])
  })

  it("counts calendar years: 29 February becomes 28", async () => {
    expect(await getRanges(`metrics=${blocks},${monthly}&to=2024-02-29`)).toEqual([
      ["2023-02-28", "2024-02-29"],
      ["2019-02-28", "2024-02-29"]
    ])
    expect(await getRanges(`metrics=${blocks}&to=2025-02-28`)).toEqual([["2024-02-28", "2025-02-28"]])
  })

  it("never starts before the year 1", async () => {
    expect(await getRanges(`metrics=${blocks},${monthly}&to=0001-06-01`)).toEqual([
      ["0001-06-01", "0001-06-01"],
      ["0001-06-01", "0001-06-01"]
    ])
  })
})

describe("a requested range", () => {
  it("is returned unchanged, even if its first and last day have no values", async () => {
    expect(await getResult(`metrics=${blocks}&from=0001-01-01&to=9999-12-31`)).toMatchObject({
      from: "0001-01-01",
      to: "9999-12-31"
    })
    expect(await getResult(`metrics=${blocks}&from=2026-09-20&to=2026-10-31`)).toEqual({
      metric_name: blocks,
      unit: "usd_per_lb",
      from: "2026-09-20",
      to: "2026-10-31",
      points: [{ date: "2026-09-26", value: 1.4958 }]
    })
  })

  it("returns the full history up to the newest value when `from` is very early", async () => {
    const { from, points, to } = await getResult(`metrics=${blocks}&from=1800-01-01`)
    expect([from, to, points.length, points[0]?.date]).toEqual(["1800-01-01", "2026-09-26", 758, "2012-03-03"])
  })

  it("includes its first and its last day", async () => {
    const { points } = await getResult(`metrics=${blocks}&from=2026-08-22&to=2026-09-05`)
    expect(points.map(({ date }) => date)).toEqual(["2026-08-22", "2026-08-29", "2026-09-05"])
  })

  it("has empty points without readings", async () => {
    expect(await getResult(`metrics=${blocks}&from=2026-08-23&to=2026-08-28`)).toMatchObject({ points: [] })
    expect(await getResult(`metrics=${blocks}&from=2030-01-01`)).toMatchObject({
      from: "2030-01-01",
      to: "2026-09-26",
      points: []
    })
  })
})

describe("a metric without values", () => {
  it.each([
    ["", null, null],
    ["&from=2024-01-01", "2024-01-01", null],
    ["&to=2024-01-01", null, "2024-01-01"],
    ["&from=2023-01-01&to=2024-01-01", "2023-01-01", "2024-01-01"]
  ])("returns empty points, with null for a bound that was not requested: '%s'", async (range, from, to) => {
    expect(await getResults(`metrics=${withoutValues}${range}`)).toEqual([
      { metric_name: withoutValues, unit: "usd_per_lb", from, to, points: [] }
    ])
  })
})

describe("metric values: invalid requests", () => {
  it.each(["", "metrics=", "from=2024-01-01"])("rejects missing or empty `metrics`: '%s'", async (query) => {
    expect(formatError(await getValues(query))).toMatch(/^400 invalid_request: metrics is required/)
  })

  it("rejects more than 100 names, including duplicates, and accepts 100", async () => {
    const names = (count: number) => `metrics=${Array.from({ length: count }, () => blocks).join(",")}&from=2026-09-26`
    expect((await getResults(names(100))).length).toBe(100)
    expect(formatError(await getValues(names(101)))).toMatch(/^400 invalid_request: metrics takes at most 100 /)
  })

  it("rejects an empty name before, between or after commas", async () => {
    for (const list of [`${blocks},`, `,${blocks}`, `${blocks},,${daily}`]) {
      expect(formatError(await getValues(`metrics=${list}`))).toMatch(/^400 invalid_request: metrics has an empty name/)
    }
  })

  it("names all unknown metrics in order, joined by a comma and a space", async () => {
    expect(formatError(await getValues(`metrics=nope,${blocks},other,nope`))).toBe(
      "400 invalid_request: Unknown metrics: nope, other, nope"
    )
    expect(formatError(await getValues(`metrics=${blocks.toUpperCase()}`))).toBe(
      `400 invalid_request: Unknown metrics: ${blocks.toUpperCase()}`
    )
    expect(formatError(await getValues("metrics=cheese-block-sales-price-weekly,%20x"))).toBe(
      "400 invalid_request: Unknown metrics: cheese-block-sales-price-weekly,  x"
    )
  })

  it("rejects impossible and empty days, and `from` after `to`", async () => {
    for (const [name, text] of [
      ["from", "2023-02-29"],
      ["to", "2024-06-31"],
      ["from", ""],
      ["to", ""],
      ["to", "0000-01-01"]
    ]) {
      expect(formatError(await getValues(`metrics=${blocks}&${name}=${text}`))).toBe(
        `400 invalid_request: ${name} must be a real calendar day in YYYY-MM-DD format`
      )
    }
    expect(formatError(await getValues(`metrics=${blocks}&from=2024-01-02&to=2024-01-01`))).toBe(
      "400 invalid_request: from must not be after to"
    )
  })

  it("checks in the same order as prices: number of names, from, to, from after to, unknown names", async () => {
    const many = Array.from({ length: 101 }, () => "nope").join(",")
    const order = [
      ["from=x&to=y", /metrics is required/],
      [`metrics=${many}&from=x&to=y`, /at most 100/],
      ["metrics=nope&from=x&to=y", /^400 invalid_request: from must be/],
      ["metrics=nope&from=2024-01-01&to=y", /^400 invalid_request: to must be/],
      ["metrics=nope&from=2024-01-02&to=2024-01-01", /from must not be after to/],
      ["metrics=nope&from=2024-01-01&to=2024-01-01", /Unknown metrics: nope/]
    ] as const
    for (const [query, message] of order) expect(formatError(await getValues(query))).toMatch(message)
  })
})
