/** A server whose operator withholds what belongs to the exchange. */
import { catalog } from "@larder/pipelines"
import { guidePaths } from "@larder/serve/docs"
import { describe, expect, it } from "vitest"
import { connected, overHttp } from "../mcp/assistant.ts"
import { formatError, startOwnServer, useSharedServer } from "../support/api/server.ts"

const { series } = catalog()

const api = startOwnServer({ environment: { LARDER_WITHHELD_LICENCES: "cme_group" } })
const open = useSharedServer()

const withheld = series.filter(({ slug }) => slug.includes("-exch-spot-")).map(({ slug }) => slug)
const metricOf = (slug: string) => slug.replaceAll("-", "_")

/** Names of series and metrics that a text has, each once. */
const namesIn = (text: string) => new Set(text.match(/[a-z0-9]+([-_][a-z0-9]+)+/g))
const withheldIn = (text: string) => [...withheld, ...withheld.map(metricOf)].filter((name) => namesIn(text).has(name))

interface Products {
  readonly data: ReadonlyArray<{ readonly metrics: ReadonlyArray<{ readonly metric_name: string }> }>
}
const metricsIn = (json: unknown) =>
  (json as Products).data.flatMap(({ metrics }) => metrics.map(({ metric_name }) => metric_name))

describe("a withheld series", () => {
  it("is in neither shape of the catalog, where all others are", async () => {
    expect(withheld).toHaveLength(15)
    const catalog = "/v1/commodities?limit=500"
    const all = metricsIn((await open.get(catalog)).json)
    const left = metricsIn((await api.get(catalog)).json)
    expect(left).toEqual(all.filter((name) => !withheld.map(metricOf).includes(name)))
    expect(left).toHaveLength(all.length - 15)
    const grouped = await api.get("/v1/commodities")
    expect([withheldIn(grouped.text), grouped.text.match(/"slug"/g)?.length]).toEqual([[], 9])
    expect((await api.get("/v1/commodities?commodity=exch-spot")).json).toEqual({ data: [] })
  })

  it("has an unknown name, uncharged", async () => {
    const [slug = ""] = withheld
    const prices = await api.get(`/v1/commodities/prices?series=butter-sales-price-weekly,${slug}`)
    expect(formatError(prices)).toBe(`400 invalid_request: Unknown series: ${slug}`)
    const values = await api.get(`/v1/commodities/metric-values?metrics=${metricOf(slug)}`)
    expect(formatError(values)).toBe(`400 invalid_request: Unknown metrics: ${metricOf(slug)}`)
    for (const { headers } of [prices, values]) expect(headers["x-credits-charged"]).toBe("0")
  })

  it("is unknown to an assistant, too", async () => {
    const [slug = ""] = withheld
    const client = await connected(overHttp(api.server().api, api.key().key), "auto")
    try {
      const { content, isError } = await client.callTool({ name: "get_commodity_prices", arguments: { series: slug } })
      expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining(`Unknown series: ${slug}`)])
    } finally {
      await client.close()
    }
  })

  it("is in no example of the OpenAPI document, of a guide or of the list of tools", async () => {
    const { key } = api.key()
    const client = await connected(overHttp(api.server().api, key), "auto")
    const tools = JSON.stringify(await client.listTools())
    await client.close()
    const pages = await Promise.all(
      ["/openapi.json", "/llms.txt", ...guidePaths.map((path) => `${path}.md`)].map((path) =>
        fetch(`${api.server().api}${path}`).then((answer) => answer.text())
      )
    )
    for (const text of [tools, ...pages]) expect(withheldIn(text)).toEqual([])
  })
})
