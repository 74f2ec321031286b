import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()

interface Metric {
  readonly metric_name: string
  readonly unit: string
  readonly frequency: string
  readonly freight: string
  readonly source: string
  readonly measure: string
  readonly region: string
  readonly market_level: string
}
interface Product {
  readonly slug: string
  readonly category: string
  readonly metrics: ReadonlyArray<Metric>
}
interface Page {
  readonly data: ReadonlyArray<Product>
  readonly next_cursor: string | null
}

const getPage = async (query: string) => (await api.get(`/v1/commodities?${query}`)).json as Page
const getSlugs = async (query: string) => (await getPage(query)).data.map(({ slug }) => slug)
const getAllMetrics = async () => (await getPage("limit=500")).data.flatMap(({ metrics }) => metrics)

describe("the paged catalog", () => {
  it("lists every product, sorted by slug", async () => {
    const { data, next_cursor } = await getPage("limit=500")
    const slugs = data.map(({ slug }) => slug)
    expect(next_cursor).toBeNull()
    expect(slugs).toEqual(slugs.toSorted())
    expect(new Set(slugs).size).toBe(slugs.length)
    for (const slug of ["butter", "cheese-barrel", "casein-acid", "milk-class-i", "whey-protein-concentrate"]) {
      expect(slugs).toContain(slug)
    }
  })

  it("returns a product with every field", async () => {
    const { data } = await getPage("category=dairy/casein")
    const metric = (name: string, measure: string, from: string | null, to: string | null) => ({
      metric_name: `casein_acid_us_${name}_weekly`,
      measure,
      unit: "usd_per_lb",
      region: "united_states",
      market_level: "wholesale",
      freight: "not_stated",
      frequency: "weekly",
      source: "gov-mars",
      first_observed_on: from,
      last_observed_on: to
    })
    expect(data[0]).toEqual({
      slug: "casein-acid",
      category: "dairy/casein",
      attributes: { type: "acid" },
      details: { description: "Acid casein." },
      metrics: [
        metric("mostly_high", "mostly_high_price", null, null),
        metric("mostly_low", "mostly_low_price", null, null),
        metric("price_max", "price_max", "2021-01-08", "2026-09-25"),
        metric("price_min", "price_min", "2021-01-08", "2026-09-25")
      ]
    })
  })

  it("has each of the 24 series as a metric, named like its slug with underscores", async () => {
    const metrics = new Map((await getAllMetrics()).map((metric) => [metric.metric_name, metric]))
    const { json } = await api.get("/v1/commodities")
    const { data } = json as { data: ReadonlyArray<{ series: ReadonlyArray<Metric & { readonly slug: string }> }> }
    const series = data.flatMap((group) => group.series)
    expect(series.length).toBe(24)
    for (const { frequency, measure, slug, source, unit, ...others } of series) {
      expect(metrics.get(slug.replaceAll("-", "_"))).toMatchObject({
        frequency,
        measure,
        source,
        unit: unit === "USD/lb" ? "usd_per_lb" : "usd_per_cwt",
        ...("first_observed_on" in others && { first_observed_on: others.first_observed_on })
      })
    }
  })

  it("names metrics uniquely, in lowercase snake_case", async () => {
    const names = (await getAllMetrics()).map(({ metric_name }) => metric_name)
    expect(names.length).toBeGreaterThan(100)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))).toEqual([])
  })

  it("uses the known tokens for unit, frequency, source and freight, and a token for region and market level", async () => {
    const metrics = await getAllMetrics()
    const listValues = (name: keyof Metric) => [...new Set(metrics.map((metric) => metric[name]))].toSorted()
    expect(listValues("unit")).toEqual(["usd_per_cwt", "usd_per_lb", "usd_per_lb_basis", "usd_per_metric_ton"])
    expect(listValues("source")).toEqual(["gov-mars", "gov-mpr"])
    expect(listValues("frequency")).toEqual(["biweekly", "daily", "monthly", "weekly"])
    expect(listValues("freight")).toContain("not_stated")
    for (const name of ["region", "market_level", "freight"] as const) {
      expect(listValues(name).filter((token) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(token))).toEqual([])
    }
  })

  it("never shows a basis as a price", async () => {
    const metrics = await getAllMetrics()
    const basis = metrics.filter(({ metric_name }) => metric_name.includes("basis"))
    expect(basis.length).toBeGreaterThan(0)
    expect(basis.filter(({ unit }) => unit !== "usd_per_lb_basis")).toEqual([])
    expect(metrics.filter(({ unit }) => unit === "usd_per_lb_basis")).toEqual(basis)
  })

  it.each([
    ["region", "dry_whey_us_west_price_min_weekly"],
    ["region", "nonfat_dry_milk_low_medium_heat_us_east_and_central_mostly_low_weekly"],
    ["region", "butter_82_europe_price_max_biweekly"],
    ["product", "dry_buttermilk_us_west_price_min_weekly"],
    ["product", "lactose_us_central_and_west_mostly_high_weekly"],
    ["product", "whey_protein_concentrate_34_us_central_and_west_price_min_weekly"],
    ["product", "casein_rennet_us_price_min_weekly"],
    ["product", "dry_whole_milk_us_price_max_weekly"],
    ["product", "cheddar_oceania_price_min_biweekly"]
  ])("has a metric of the regional and international reports, by %s: %s", async (_, name) => {
    expect((await getAllMetrics()).map(({ metric_name }) => metric_name)).toContain(name)
  })
})

describe("the filter `category`", () => {
  it.each([
    ["dairy/casein", ["casein-acid", "casein-rennet"]],
    ["dairy/casein/", ["casein-acid", "casein-rennet"]],
    ["dairy/cas", []],
    ["Dairy/casein", []],
    ["dairy/casein/acid", []],
    ["casein", []],
    ["dair", []],
    ["dairy%", []],
    ["*", []]
  ])("matches whole leading segments, case-sensitively, and ignores a trailing slash: %s", async (text, slugs) => {
    expect(await getSlugs(`category=${encodeURIComponent(text)}`)).toEqual(slugs)
  })

  it("finds every product of a family", async () => {
    const { data } = await getPage("limit=500")
    const whey = data.filter(({ category }) => category === "dairy/whey").map(({ slug }) => slug)
    expect(whey.length).toBeGreaterThan(1)
    expect(await getSlugs("category=dairy/whey")).toEqual(whey)
    expect(await getSlugs("category=dairy")).toEqual(data.map(({ slug }) => slug))
  })

  it("filters nothing when it is empty, but still selects the paged catalog", async () => {
    expect((await api.get("/v1/commodities?category=")).text).toBe((await api.get("/v1/commodities?limit=100")).text)
  })
})

describe("the parameter `limit` of products", () => {
  it.each(["1", "2", "007", "499", "500", "000500"])("accepts a page size from 1 to 500: %s", async (limit) => {
    const { data } = await getPage(`limit=${limit}`)
    expect(data.length).toBe(Math.min(Number(limit), 21))
  })

  it("is 100 by default; the document has this only in words, because generated clients send the schema's defaults", async () => {
    expect((await api.get("/v1/commodities?cursor=")).text).toBe((await api.get("/v1/commodities?limit=100")).text)
    const { parameters } = api.client().document.paths["/v1/commodities"]?.get ?? { parameters: [] }
    const limit = parameters.find(({ name }) => name === "limit")
    expect(limit?.schema).toEqual({ type: "integer", minimum: 1, maximum: 500 })
    expect(limit?.description).toContain("100 by default")
  })

  it.each(["0", "000", "-1", "+5", "1.0", "1e2", "0x10", "ten", " 5", "5 ", "５", "", "NaN", "Infinity"])(
    "responds with 400 to a value that is not a whole number of at least 1: '%s'",
    async (limit) => {
      const reply = await api.get(`/v1/commodities?limit=${encodeURIComponent(limit)}`)
      expect(formatError(reply)).toBe("400 invalid_request: limit must be a whole number of at least 1")
    }
  )

  it.each(["501", "1000", "9".repeat(400)])("responds with 400 to a value above 500: %s", async (limit) => {
    expect(formatError(await api.get(`/v1/commodities?limit=${limit}`))).toBe(
      "400 invalid_request: limit must be at most 500"
    )
  })
})

describe("the choice between the grouped and the paged catalog", () => {
  it.each(["category=dairy", "category=", "limit=5", "cursor="])("is paged for %s", async (query) => {
    expect((await api.get(`/v1/commodities?${query}`)).json).toHaveProperty("next_cursor")
  })

  const paged = ["category=dairy", "category=", "limit=5", "cursor=", "cursor=abc", "limit="]
  it.each(paged.flatMap((query) => [`commodity=butter&${query}`, `${query}&commodity=`]))(
    "responds with 400 to a combination of parameters of both catalogs, even empty ones: %s",
    async (query) => {
      const reply = await api.get(`/v1/commodities?${query}`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: /)
      if (query.includes("limit=&") || query.endsWith("limit=")) return // refused for its limit, which is checked first
      expect(formatError(reply)).toBe(
        "400 invalid_request: commodity cannot be combined with category, limit or cursor"
      )
    }
  )

  it.each(["data.larder.test", "DATA.larder.test", "data.larder.test:8080"])(
    "is paged without parameters at the data host: %s",
    async (host) => {
      const expected = await api.get("/v1/commodities?limit=100")
      expect((await api.get("/v1/commodities", { headers: { host } })).text).toBe(expected.text)
    }
  )

  it.each(["larder.test", "data.larder.test.evil.test", "xdata.larder.test", "localhost"])(
    "is grouped without parameters at any other host: %s",
    async (host) => {
      const expected = await api.get("/v1/commodities?commodity=")
      expect((await api.get("/v1/commodities", { headers: { host } })).text).toBe(expected.text)
    }
  )

  it("ignores a forwarded host", async () => {
    const headers = { "x-forwarded-host": "data.larder.test", forwarded: "host=data.larder.test" }
    expect((await api.get("/v1/commodities", { headers })).json).not.toHaveProperty("next_cursor")
  })

  it("serves all endpoints and both catalogs at both hosts", async () => {
    const headers = { host: "data.larder.test" }
    for (const target of [
      "/v1/commodities?commodity=butter",
      "/v1/commodities?limit=2",
      "/v1/commodities/prices?series=butter-sales-price-weekly",
      "/v1/commodities/metric-values?metrics=butter_sales_price_weekly",
      "/v1/branded-foods",
      "/v1/stores"
    ]) {
      const reply = await api.get(target, { headers })
      expect([reply.status, reply.text]).toEqual([200, (await api.get(target)).text])
    }
  })
})
