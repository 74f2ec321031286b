/** The health of a server at its console listener, and its responses while its disk is full or damaged. */
import { once } from "node:events"
import { chmodSync, globSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { Agent, get } from "node:http"
import path from "node:path"
import { version } from "@larder/schemas"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { createKey, listEntries } from "../support/api/operator.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"
import { makeDisk } from "./conditions.ts"

const storage = makeDisk()
const hosts = { LARDER_HOST: "0.0.0.0", LARDER_CONSOLE_HOST: "127.0.0.1" }
const api = startOwnServer({ environment: { ...storage.environment, ...hosts } })
const fetchConsole = (path: string) => fetch(`${api.server().console}${path}`)
const fetchJson = async (path: string) => {
  const response = await fetchConsole(path)
  return [response.status, await response.json()]
}

const ready = {
  status: "ready",
  generation: "larder-000003",
  data_sets: { commodities: true, branded_foods: true, storefronts: true },
  ledger: "writable",
  freshness: {
    read_at: expect.any(String),
    states: { commodities: { sample: 151 }, branded_foods: { sample: 2 }, storefronts: { sample: 3 } }
  },
  missing: []
}
/** Samples by name and labels. */
const fetchMetrics = async () => {
  const lines = (await (await fetchConsole("/metrics")).text()).split("\n").filter((line) => /^[a-z]/.test(line))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]))
}

describe("the console listener", () => {
  it("has a separate port", () => {
    expect(api.server().console).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(api.server().console).not.toBe(api.server().api)
  })

  it("stays local with a loopback host while the API is public", async () => {
    const { api: address, console, logs } = api.server()
    const atOtherAddress = (url: string) => `http://127.0.0.2:${new URL(url).port}`
    expect((await fetch(`${atOtherAddress(address)}/openapi.json`)).status).toBe(200)
    await expect(fetch(`${atOtherAddress(console)}/sign-in`)).rejects.toThrow()
    expect((await fetch(`${console}/sign-in`)).status).toBe(200)
    expect(await (await fetch(`${atOtherAddress(address)}/docs`)).text()).not.toContain(new URL(console).port)
    expect(logs()).not.toContain("without https")
  })

  it("/healthz states that the server is alive, and its version", async () => {
    expect(await fetchJson("/healthz")).toEqual([200, { status: "alive", version }])
  })

  it("/readyz states the live generation, whether the ledger is writable, and which data sets are missing", async () => {
    expect(await fetchJson("/readyz")).toEqual([200, ready])
  })

  it.each(["/healthz", "/readyz", "/metrics"])("responds to HEAD %s as to GET, without the body", async (path) => {
    const head = await fetch(`${api.server().console}${path}`, { method: "HEAD" })
    const full = await fetchConsole(path)
    const length = Number(full.headers.get("content-length"))
    expect([head.status, await head.text()]).toEqual([full.status, ""])
    expect(Buffer.byteLength(await full.text())).toBe(length)
    for (const name of ["content-type", "cache-control"]) expect(head.headers.get(name)).toBe(full.headers.get(name))
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(length - 10) // metrics may change in between
  })

  it("announces that idle connections stay open for 75 seconds, like that of the API", async () => {
    for (const url of [`${api.server().console}/healthz`, `${api.server().api}/openapi.json`]) {
      const agent = new Agent({ keepAlive: true })
      const [response] = await once(get(url, { agent }), "response")
      expect([response.headers.connection, response.headers["keep-alive"]]).toEqual(["keep-alive", "timeout=75"])
      response.destroy()
      agent.destroy()
    }
  })

  it("serves no endpoint of the API", async () => {
    for (const path of ["/v1/commodities", "/openapi.json"]) expect((await fetchConsole(path)).status).toBe(404)
  })
})

describe("/metrics", () => {
  it("is Prometheus text in which every sample has a TYPE and is a number", async () => {
    await api.get("/v1/commodities")
    const response = await fetchConsole("/metrics")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8"
    ])
    const lines = (await response.text()).trimEnd().split("\n")
    const announced = new Set<string>()
    for (const line of lines) {
      const [, kind, name = ""] = /^# (HELP|TYPE) ([a-z_0-9]+) \S/.exec(line) ?? []
      if (kind === "TYPE") announced.add(name)
      if (line.startsWith("#")) continue
      const [, sample = "", value = ""] =
        /^([a-z_0-9]+)(?:\{[a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*\})? (\S+)$/.exec(line) ?? []
      expect(Number.isFinite(Number(value)) && value !== "", line).toBe(true)
      expect(
        [...announced].some((family) => sample === family || sample.replace(/_(bucket|sum|count)$/, "") === family),
        line
      ).toBe(true)
    }
    expect(announced.size).toBeGreaterThan(5)
  })

  it("has the metrics of docs/monitoring.md, and no others", async () => {
    const announced = [...(await (await fetchConsole("/metrics")).text()).matchAll(/^# TYPE (\S+)/gm)]
    const tables = readFileSync(path.join(repository, "docs/monitoring.md"), "utf8").split("\n## Metrics\n")[1] ?? ""
    const documented = [...tables.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? [])
    expect(documented.toSorted()).toEqual(announced.map(([, name]) => name).toSorted())
  })

  it("says what ingest.freshness says, when each pipeline ran, and what is left out", async () => {
    const metrics = await fetchMetrics()
    const ofStates = (pipeline: string) =>
      ["fresh", "late", "ended", "sample", "not_loaded", "not_read"].map((state) =>
        Number(metrics.get(`larder_freshness_subjects{pipeline="${pipeline}",state="${state}"}`))
      )
    expect(ofStates("storefronts")).toEqual([0, 0, 0, 3, 0, 0])
    const now = Date.now() / 1000
    const age = (name: string) => now - Number(metrics.get(name))
    for (const pipeline of ["commodities", "branded-foods", "storefronts"]) {
      expect(age(`larder_run_last_start_timestamp_seconds{pipeline="${pipeline}"}`)).toBeLessThan(86_400)
      expect(age(`larder_run_last_success_timestamp_seconds{pipeline="${pipeline}"}`)).toBeLessThan(86_400)
      expect(metrics.get(`larder_run_last_failed{pipeline="${pipeline}"}`)).toBe("0")
      expect(metrics.get(`larder_run_last_outcome{pipeline="${pipeline}",outcome="published"}`)).toBe("1")
      expect(metrics.get(`larder_left_out_feeds{pipeline="${pipeline}"}`)).toBe("0")
    }
    const day = Date.parse("2026-09-29") / 1000
    expect(metrics.get('larder_feed_newest_timestamp_seconds{pipeline="commodities",feed="gov-mars/1603"}')).toBe(
      `${day}`
    )
    expect([metrics.get("larder_generation"), metrics.get("larder_ready")]).toEqual(["3", "1"])
    expect(metrics.get(`larder_build_info{version="${version}",node="${process.version}"}`)).toBe("1")
  })

  it("measures the process and the disk", async () => {
    const measured = ["process_resident_memory_bytes", "process_cpu_seconds_total", "larder_disk_free_bytes"]
    await expect.poll(async () => (await fetchMetrics()).has("larder_warehouse_bytes")).toBe(true)
    const metrics = await fetchMetrics()
    for (const name of [...measured, "larder_warehouse_bytes"]) expect(Number(metrics.get(name))).toBeGreaterThan(0)
    expect(Number(metrics.get("process_max_fds"))).toBeGreaterThan(Number(metrics.get("process_open_fds")))
    expect(metrics.get("larder_raw_bytes")).toBe("0")
    expect(Number(metrics.get("larder_disk_size_bytes"))).toBeGreaterThanOrEqual(
      Number(metrics.get("larder_disk_free_bytes"))
    )
  })

  it("counts unknown paths and methods, without their text", async () => {
    const countRefused = async (status: number) =>
      Number((await fetchMetrics()).get(`larder_refused_requests_total{status="${status}"}`))
    const before = [await countRefused(404), await countRefused(405)]
    await api.get("/secret-text")
    await fetch(`${api.server().api}/v1/commodities`, { method: "DELETE" })
    expect([await countRefused(404), await countRefused(405)]).toEqual(before.map((count) => count + 1))
  })

  it("counts responses by endpoint and status, and durable charges", async () => {
    const before = await fetchMetrics()
    await api.get("/v1/commodities")
    await api.get("/v1/commodities")
    await api.get("/v1/commodities?limit=0")
    await api.get("/v1/products/none", { key: undefined })
    const after = await fetchMetrics()
    const countAdded = (name: string) => Number(after.get(name) ?? 0) - Number(before.get(name) ?? 0)
    expect({
      found: countAdded('larder_requests_total{endpoint="searchCommodities",status="200"}'),
      refused: countAdded('larder_requests_total{endpoint="searchCommodities",status="400"}'),
      unauthorized: countAdded('larder_requests_total{endpoint="getProduct",status="401"}'),
      timed: countAdded('larder_request_seconds_count{endpoint="searchCommodities"}'),
      charges: countAdded("larder_ledger_charges_total")
    }).toEqual({ found: 2, refused: 1, unauthorized: 1, timed: 3, charges: 2 })
  })

  it("contains no text that a caller has sent", async () => {
    await api.get("/v1/stores/secret-text?nonsense=secret-text")
    await api.get("/secret-text")
    expect(await (await fetchConsole("/metrics")).text()).not.toContain("secret-text")
  })
})

describe("a ledger that cannot be written", () => {
  it("makes /readyz return 503 until the disk has space again, while /healthz stays 200", async () => {
    storage.fill()
    expect((await api.get("/v1/commodities")).status).toBe(503)
    expect(await fetchJson("/readyz")).toEqual([503, { ...ready, status: "not ready", ledger: "not writable" }])
    expect(await fetchJson("/healthz")).toEqual([200, { status: "alive", version }])
    storage.free()
    await expect.poll(() => fetchJson("/readyz"), { interval: 100 }).toEqual([200, ready])
    expect((await api.get("/v1/commodities")).status).toBe(200)
  })

  it("responds with 503 `internal` with Retry-After, and charges nothing", async () => {
    const key = await createKey(api.home())
    storage.fill()
    const failed = await api.get("/v1/commodities", { key: key.key })
    expect(formatError(failed)).toBe("503 internal: An unexpected error occurred")
    expect(failed.headers["retry-after"]).toMatch(/^[1-9]\d*$/)
    expect(failed.headers["x-credits-charged"]).toBe("0")
    // calls that cost nothing still work
    expect((await api.get("/v1/commodities?limit=0", { key: key.key })).status).toBe(400)
    storage.free()
    expect((await api.get("/v1/commodities", { key: key.key })).headers["x-credits-remaining"]).toBe("4990")
    const entries = await listEntries(api.home(), key.account_id)
    expect(entries.map(({ credits }) => credits)).toEqual([5_000, -10])
  })
})

describe("records of branded foods that are damaged while the server runs", () => {
  let records = ""
  let original = Buffer.alloc(0)
  let id = ""
  beforeAll(async () => {
    const [found = ""] = globSync(path.join(api.home(), "warehouse/beside/*/records.tsv"))
    records = found
    original = readFileSync(records)
    chmodSync(records, 0o644)
    const { json } = await api.get("/v1/branded-foods?limit=1")
    id = (json as { readonly data: ReadonlyArray<{ readonly id: string }> }).data[0]?.id ?? ""
  })
  afterEach(() => writeFileSync(records, original))

  /** The file is changed in place, because the server has it open. */
  const damages: ReadonlyArray<readonly [damage: string, damage: () => void, message: RegExp]> = [
    [
      "overwritten",
      () => writeFileSync(records, Buffer.alloc(original.length)),
      /records\.tsv.*has a different line in place of the record/
    ],
    ["truncated", () => truncateSync(records, 10), /records\.tsv.*ends before byte \d+/]
  ]

  const endpointOf = (target: string) => (/\/data_/.test(target) ? "getBrandedFood" : "searchBrandedFoods")

  it.each(damages)(
    "%s: responds with 500 `internal` free of charge, logs it, and still handles requests that need no records",
    async (name, damage, message) => {
      const key = await createKey(api.home())
      const get = (target: string) => api.get(target, { key: key.key })
      const targets = [`/v1/branded-foods/${id}`, "/v1/branded-foods", "/v1/branded-foods?ingredient=salt&limit=1"]
      damage()
      const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      for (const target of targets) {
        const failed = await api.get(target, { key: key.key, headers: { "x-request-id": `mine-${name}`, traceparent } })
        expect(failed.headers["x-request-id"]).not.toContain("mine")
        await expect
          .poll(() => api.server().logs())
          .toContain(
            `"request_id":"${failed.headers["x-request-id"]}","endpoint":"${endpointOf(target)}","caller_request_id":"mine-${name}","traceparent":"${traceparent}"`
          )
        expect(formatError(failed)).toBe("500 internal: An unexpected error occurred")
        expect(failed.headers["x-credits-charged"]).toBe("0")
      }
      expect(formatError(await get("/v1/branded-foods/none"))).toBe("404 not_found: Unknown branded food: none")
      expect((await get("/v1/branded-foods?name=no+such+food+anywhere")).text).toBe('{"data":[],"next_cursor":null}')
      expect((await get("/v1/branded-foods/categories")).status).toBe(200)
      writeFileSync(records, original)
      for (const target of targets) expect((await get(target)).status).toBe(200)
      expect(api.server().logs()).toMatch(message)
      const entries = await listEntries(api.home(), key.account_id)
      expect(entries.map(({ credits }) => credits)).toEqual([5_000, -10, -10, -10, -10, -10])
    }
  )
})
