import { describe, expect, it } from "vitest"
import { useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()

interface Series {
  readonly slug: string
  readonly spec: string | null
  readonly market: string
  readonly measure: string
  readonly unit: string
  readonly frequency: string
  readonly source: string
  readonly report: string
  readonly first_observed_on: string | null
  readonly last_observed_on: string | null
}
interface Group {
  readonly commodity: string
  readonly series: ReadonlyArray<Series>
}

const getGroups = async (target: string) =>
  ((await api.get(target)).json as { readonly data: ReadonlyArray<Group> }).data
const getSeries = async () => (await getGroups("/v1/commodities")).flatMap(({ series }) => series)
const groupSlugs = (groups: ReadonlyArray<Group>) =>
  Object.fromEntries(groups.map(({ commodity, series }) => [commodity, series.map(({ slug }) => slug)]))

const listSlugs = (product: string) => [
  `${product}-exch-spot-close-daily`,
  `${product}-exch-spot-average-weekly`,
  `${product}-exch-spot-average-monthly`,
  `${product}-sales-price-weekly`
]
const wholeCatalog = {
  Butter: listSlugs("butter"),
  Cheese: [...listSlugs("cheese-block"), ...listSlugs("cheese-barrel")],
  "Nonfat Dry Milk": listSlugs("nonfat-dry-milk"),
  "Dry Whey": listSlugs("dry-whey"),
  Milk: ["i", "ii", "iii", "iv"].map((number) => `milk-class-${number}-price-monthly`)
}

describe("the grouped catalog", () => {
  it("has the five groups in order and the 24 series, both cheeses in one group", async () => {
    const groups = await getGroups("/v1/commodities")
    expect(groupSlugs(groups)).toEqual(wholeCatalog)
    expect(groups.map(({ commodity }) => commodity)).toEqual(Object.keys(wholeCatalog))
    expect(new Set(groups.flatMap(({ series }) => series.map(({ slug }) => slug))).size).toBe(24)
  })

  it("is not paged, and is returned without parameters and with an empty filter", async () => {
    const unfiltered = await api.get("/v1/commodities")
    expect(Object.keys(unfiltered.json as object)).toEqual(["data"])
    expect((await api.get("/v1/commodities?commodity=")).text).toBe(unfiltered.text)
  })

  it("returns Dry Whey with every field", async () => {
    const common = { spec: "Extra Grade", unit: "USD/lb" }
    const spot = { ...common, market: "Chicago Mercantile Exchange", source: "gov-mars" }
    expect((await api.get("/v1/commodities?commodity=dry%20whey")).json).toEqual({
      data: [
        {
          commodity: "Dry Whey",
          series: [
            {
              slug: "dry-whey-exch-spot-close-daily",
              ...spot,
              measure: "close_price",
              frequency: "daily",
              report: "CME Group - Daily Cash Trading - Week to Date",
              first_observed_on: "2021-01-04",
              last_observed_on: "2026-09-29"
            },
            {
              slug: "dry-whey-exch-spot-average-weekly",
              ...spot,
              measure: "weekly Av",
              frequency: "weekly",
              report: "CME Group - Weekly Recap",
              first_observed_on: "2021-01-08",
              last_observed_on: "2026-09-25"
            },
            {
              slug: "dry-whey-exch-spot-average-monthly",
              ...spot,
              measure: expect.stringMatching(/^monthly.av/i), // the report's column is documented in several spellings
              frequency: "monthly",
              report: "Dairy Monthly Averages",
              first_observed_on: "2021-01-01",
              last_observed_on: "2026-08-01"
            },
            {
              slug: "dry-whey-sales-price-weekly",
              ...common,
              market: "United States manufacturers",
              source: "gov-mpr",
              measure: "whey_Price",
              frequency: "weekly",
              report: "National Dairy Products Sales Report",
              first_observed_on: "2012-03-03",
              last_observed_on: "2026-09-26"
            }
          ]
        }
      ]
    })
  })

  it("returns the milk classes with every field, without a spec, in USD/cwt", async () => {
    const milk = {
      spec: null,
      market: "Federal milk marketing orders",
      unit: "USD/cwt",
      frequency: "monthly",
      source: "gov-mpr",
      first_observed_on: "2012-04-01"
    }
    const announced = "Announcement of Class and Component Prices"
    const makeMilkClass = (number: string, column: string, report: string, last: string) => ({
      slug: `milk-class-${number}-price-monthly`,
      ...milk,
      measure: column,
      report,
      last_observed_on: last
    })
    expect(await getGroups("/v1/commodities?commodity=MILK-CLASS")).toEqual([
      {
        commodity: "Milk",
        series: [
          makeMilkClass("i", "class_1_Price", "Announcement of Advanced Prices and Pricing Factors", "2026-10-01"),
          makeMilkClass("ii", "class_2_Price", announced, "2026-09-01"),
          makeMilkClass("iii", "class_3_Price", announced, "2026-09-01"),
          makeMilkClass("iv", "class_4_Price", announced, "2026-09-01")
        ]
      }
    ])
  })

  it("states grade or package of each product as the interface lists it", async () => {
    const specs = new Map(
      (await getSeries()).map(({ slug, spec }) => [slug.replace(/-(exch|sales|price).*$/, ""), spec])
    )
    expect(Object.fromEntries(specs)).toEqual({
      butter: "Grade AA",
      "cheese-block": "40 pound block",
      "cheese-barrel": "barrels",
      "nonfat-dry-milk": "Grade A",
      "dry-whey": "Extra Grade",
      "milk-class-i": null,
      "milk-class-ii": null,
      "milk-class-iii": null,
      "milk-class-iv": null
    })
  })

  it("has spot prices of gov-mars, and sales and class prices of gov-mpr, at the frequency in the slug", async () => {
    for (const { frequency, market, slug, source, unit } of await getSeries()) {
      const isSpot = slug.includes("-exch-spot-")
      const isMilk = slug.startsWith("milk-class")
      expect(slug).toMatch(new RegExp(`-${frequency}$`))
      expect([slug, source, unit]).toEqual([slug, isSpot ? "gov-mars" : "gov-mpr", isMilk ? "USD/cwt" : "USD/lb"])
      if (isSpot) expect(market).toBe("Chicago Mercantile Exchange")
      else expect(market).toBe(isMilk ? "Federal milk marketing orders" : "United States manufacturers")
    }
  })

  it("names each report by its title, without a trailing (PDF)", async () => {
    expect((await getSeries()).filter(({ report }) => report === "" || report.includes("PDF"))).toEqual([])
  })

  it("keeps barrels, which ended on 2025-05-31", async () => {
    const barrels = (await getSeries()).find(({ slug }) => slug === "cheese-barrel-sales-price-weekly")
    expect(barrels).toMatchObject({ measure: "cheese_500_Price", last_observed_on: "2025-05-31" })
  })

  it("returns the days of the first and the last reading of each series", async () => {
    const series = await getSeries()
    const { json } = await api.get(`/v1/commodities/prices?series=${series.map(({ slug }) => slug).join(",")}`)
    const { data } = json as {
      data: ReadonlyArray<{ slug: string; unit: string; points: ReadonlyArray<{ date: string }> }>
    }
    expect(data.map(({ points, slug, unit }) => [slug, unit, points[0]?.date, points.at(-1)?.date])).toEqual(
      series.map(({ first_observed_on, last_observed_on, slug, unit }) => [
        slug,
        unit,
        first_observed_on,
        last_observed_on
      ])
    )
  })
})

describe("the filter `commodity`", () => {
  it.each([
    ["butter", { Butter: wholeCatalog.Butter }],
    ["BuTtEr", { Butter: wholeCatalog.Butter }],
    ["cheese", { Cheese: wholeCatalog.Cheese }],
    ["barrel", { Cheese: listSlugs("cheese-barrel") }],
    ["Class-IV", { Milk: ["milk-class-iv-price-monthly"] }],
    // both the name "Nonfat Dry Milk" and the slugs of the classes contain the text
    ["milk", { "Nonfat Dry Milk": wholeCatalog["Nonfat Dry Milk"], Milk: wholeCatalog.Milk }],
    ["dry", { "Nonfat Dry Milk": wholeCatalog["Nonfat Dry Milk"], "Dry Whey": wholeCatalog["Dry Whey"] }],
    ["Dry M", { "Nonfat Dry Milk": wholeCatalog["Nonfat Dry Milk"] }],
    [
      "price-weekly",
      Object.fromEntries(
        Object.entries(wholeCatalog)
          .map(([name, slugs]) => [name, slugs.filter((slug) => slug.includes("price-weekly"))] as const)
          .filter(([, slugs]) => slugs.length > 0)
      )
    ]
  ])("keeps the series whose commodity name or slug contains %s, ignoring case", async (text, expected) => {
    const groups = await getGroups(`/v1/commodities?commodity=${encodeURIComponent(text)}`)
    expect(groupSlugs(groups)).toEqual(expected)
    expect(groups.map(({ commodity }) => commodity)).toEqual(Object.keys(expected))
  })

  it.each(["%", "_", "*", "\\", ".", "b%r", "butter ", " butter", "BUTTER*", "ﬀ", "quark"])(
    "matches the text literally, and returns an empty list if nothing contains it: %s",
    async (text) => {
      const { status, text: body } = await api.get(`/v1/commodities?commodity=${encodeURIComponent(text)}`)
      expect([status, body]).toEqual([200, '{"data":[]}'])
    }
  )

  it("reads + and %20 as a space, and %2B as a plus", async () => {
    expect(groupSlugs(await getGroups("/v1/commodities?commodity=dry+whey"))).toEqual({
      "Dry Whey": wholeCatalog["Dry Whey"]
    })
    expect(await getGroups("/v1/commodities?commodity=dry%2Bwhey")).toEqual([])
  })

  it("lower-cases by Unicode on both sides", async () => {
    // U+212A, the Kelvin sign, is `k` in lower case.
    expect(groupSlugs(await getGroups(`/v1/commodities?commodity=${encodeURIComponent("bloc\u212a")}`))).toEqual({
      Cheese: listSlugs("cheese-block")
    })
  })
})
