import { version } from "@larder/schemas/version.ts"
import { describe, expect, it } from "vitest"
import { createKey, statement } from "../support/api/operator.ts"
import { errorOf, servedAlone } from "../support/api/served.ts"
import { disk } from "./conditions.ts"

const storage = disk()
const api = servedAlone({ environment: storage.environment })
const onConsole = (path: string) => fetch(`${api.server().console}${path}`)
const json = async (path: string) => {
  const response = await onConsole(path)
  return [response.status, await response.json()]
}

const ready = {
  status: "ready",
  generation: "larder-000003",
  data_sets: { commodities: true, branded_foods: true, storefronts: true },
  ledger: "writable",
  missing: []
}
/** Samples by name and labels. */
const metrics = async () => {
  const lines = (await (await onConsole("/metrics")).text()).split("\n").filter((line) => /^[a-z]/.test(line))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]))
}

describe("the console listener", () => {
  it("has its own port", () => {
    expect(api.server().console).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(api.server().console).not.toBe(api.server().api)
  })

  it("/healthz says that the server is alive, and its version", async () => {
    expect(await json("/healthz")).toEqual([200, { status: "alive", version }])
  })

  it("/readyz says which generation is open, whether the ledger can be written, and which data sets are missing", async () => {
    expect(await json("/readyz")).toEqual([200, ready])
  })

  it("serves no endpoint of the API", async () => {
    for (const path of ["/v1/commodities", "/openapi.json"]) expect((await onConsole(path)).status).toBe(404)
  })
})

describe("/metrics", () => {
  it("is Prometheus text in which every sample has a TYPE and is a number", async () => {
    await api.get("/v1/commodities")
    const response = await onConsole("/metrics")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8"
    ])
    const lines = (await response.text()).trimEnd().split("\n")
    const announced = new Set<string>()
    for (const line of lines) {
      const [, kind, name = ""] = /^# (HELP|TYPE) ([a-z_]+) \S/.exec(line) ?? []
      if (kind === "TYPE") announced.add(name)
      if (line.startsWith("#")) continue
      const [, sample = "", value = ""] =
        /^([a-z_]+)(?:\{[a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*\})? (\S+)$/.exec(line) ?? []
      expect(Number.isFinite(Number(value)) && value !== "", line).toBe(true)
      expect(
        [...announced].some((family) => sample === family || sample.replace(/_(bucket|sum|count)$/, "") === family),
        line
      ).toBe(true)
    }
    expect(announced.size).toBeGreaterThan(5)
  })

  it("counts answers by endpoint and status, and durable charges", async () => {
    const before = await metrics()
    await api.get("/v1/commodities")
    await api.get("/v1/commodities")
    await api.get("/v1/commodities?limit=0")
    await api.get("/v1/products/none", { key: undefined })
    const after = await metrics()
    const added = (name: string) => Number(after.get(name) ?? 0) - Number(before.get(name) ?? 0)
    expect({
      found: added('larder_requests_total{endpoint="searchCommodities",status="200"}'),
      refused: added('larder_requests_total{endpoint="searchCommodities",status="400"}'),
      unauthorized: added('larder_requests_total{endpoint="getProduct",status="401"}'),
      timed: added('larder_request_seconds_count{endpoint="searchCommodities"}'),
      charges: added("larder_ledger_charges_total")
    }).toEqual({ found: 2, refused: 1, unauthorized: 1, timed: 3, charges: 2 })
  })

  it("contains no text that a caller has sent", async () => {
    await api.get("/v1/stores/secret-text?nonsense=secret-text")
    await api.get("/secret-text")
    expect(await (await onConsole("/metrics")).text()).not.toContain("secret-text")
  })
})

describe("a ledger that cannot be written", () => {
  it("makes /readyz answer 503 until the disk has room again, while /healthz stays 200", async () => {
    storage.fill()
    expect((await api.get("/v1/commodities")).status).toBe(503)
    expect(await json("/readyz")).toEqual([503, { ...ready, status: "not ready", ledger: "not writable" }])
    expect(await json("/healthz")).toEqual([200, { status: "alive", version }])
    storage.free()
    await expect.poll(() => json("/readyz"), { interval: 100 }).toEqual([200, ready])
    expect((await api.get("/v1/commodities")).status).toBe(200)
  })

  it("answers 503 `internal` with Retry-After, and charges nothing", async () => {
    const key = await createKey(api.home())
    storage.fill()
    const failed = await api.get("/v1/commodities", { key: key.key })
    expect(errorOf(failed)).toBe("503 internal: An unexpected error occurred")
    expect(failed.headers["retry-after"]).toMatch(/^[1-9]\d*$/)
    expect(failed.headers["x-credits-charged"]).toBe("0")
    // What costs nothing is answered all the same.
    expect((await api.get("/v1/commodities?limit=0", { key: key.key })).status).toBe(400)
    storage.free()
    expect((await api.get("/v1/commodities", { key: key.key })).headers["x-credits-remaining"]).toBe("4990")
    const entries = await statement(api.home(), key.account_id)
    expect(entries.map(({ credits }) => credits)).toEqual([5_000, -10])
  })
})
