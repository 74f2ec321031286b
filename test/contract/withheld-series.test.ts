/** A server whose operator withholds the exchange's data. */
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { guidePaths } from "@larder/serve/docs/guides.ts"
import { describe, expect, it } from "vitest"
import { connectClient, makeHttpTransport } from "../mcp/assistant.ts"
import { formatError, startOwnServer, useSharedServer } from "../support/api/server.ts"

const { series } = catalog()

const api = startOwnServer({ environment: { LARDER_WITHHELD_LICENCES: "cme_group" } })
const unrestricted = useSharedServer()

const withheld = series.filter(({ slug }) => slug.includes("-exch-spot-")).map(({ slug }) => slug)
const toMetricName = (slug: string) => slug.replaceAll("-", "_")

/** Names of series and metrics in a text, each once. */
const findNames = (text: string) => new Set(text.match(/[a-z0-9]+([-_][a-z0-9]+)+/g))
const findWithheld = (text: string) =>
  [...withheld, ...withheld.map(toMetricName)].filter((name) => findNames(text).has(name))

interface Products {
  readonly data: ReadonlyArray<{ readonly metrics: ReadonlyArray<{ readonly metric_name: string }> }>
}
const listMetrics = (json: unknown) =>
  (json as Products).data.flatMap(({ metrics }) => metrics.map(({ metric_name }) => metric_name))

describe("a withheld series", () => {
  it("is missing from both catalogs, unlike all others", async () => {
    expect(withheld).toHaveLength(15)
    const catalog = "/v1/commodities?limit=500"
    const all = listMetrics((await unrestricted.get(catalog)).json)
    const served = listMetrics((await api.get(catalog)).json)
    expect(served).toEqual(all.filter((name) => !withheld.map(toMetricName).includes(name)))
    expect(served).toHaveLength(all.length - 15)
    const grouped = await api.get("/v1/commodities")
    expect([findWithheld(grouped.text), grouped.text.match(/"slug"/g)?.length]).toEqual([[], 9])
    expect((await api.get("/v1/commodities?commodity=exch-spot")).json).toEqual({ data: [] })
  })

  it("has an unknown name, and a call for it is not charged", async () => {
    const [slug = ""] = withheld
    const prices = await api.get(`/v1/commodities/prices?series=butter-sales-price-weekly,${slug}`)
    expect(formatError(prices)).toBe(`400 invalid_request: Unknown series: ${slug}`)
    const values = await api.get(`/v1/commodities/metric-values?metrics=${toMetricName(slug)}`)
    expect(formatError(values)).toBe(`400 invalid_request: Unknown metrics: ${toMetricName(slug)}`)
    for (const { headers } of [prices, values]) expect(headers["x-credits-charged"]).toBe("0")
  })

  it("is also unknown to an assistant", async () => {
    const [slug = ""] = withheld
    const client = await connectClient(makeHttpTransport(api.server().api, api.key().key), "auto")
    try {
      const { content, isError } = await client.callTool({ name: "get_commodity_prices", arguments: { series: slug } })
      expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining(`Unknown series: ${slug}`)])
    } finally {
      await client.close()
    }
  })

  it("is in no example of the OpenAPI document, the guides or the list of tools", async () => {
    const { key } = api.key()
    const client = await connectClient(makeHttpTransport(api.server().api, key), "auto")
    const tools = JSON.stringify(await client.listTools())
    await client.close()
    const pages = await Promise.all(
      ["/openapi.json", "/llms.txt", ...guidePaths.map((path) => `${path}.md`)].map((path) =>
        fetch(`${api.server().api}${path}`).then((response) => response.text())
      )
    )
    for (const text of [tools, ...pages]) expect(findWithheld(text)).toEqual([])
  })
})
