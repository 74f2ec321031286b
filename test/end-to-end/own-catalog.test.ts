/**
 * The operator's own catalog: the example of docs/own-catalog.md over four days, from hosts on this machine to the API.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { type Environment, run, startServer } from "../support/programs.ts"
import { query, temporaryFolder } from "./ingesting.ts"
import { creams, gone, high, judge, low, page, startHosts, switchedOff, writeCatalog } from "./own-catalog.ts"

const home = temporaryFolder()
const folder = path.join(home, "catalog")
const { close, requested, runDay: runDayOf } = startHosts()
const runDay = (day: number, settings: Environment = {}) => runDayOf(day, home, settings)
const own = { LARDER_CATALOG: folder }
beforeAll(() => writeCatalog(folder))
afterAll(() => {
  close()
  rmSync(home, { recursive: true, force: true })
})

const rowsOf = async (sql: string) => (await query(home, sql))[0] ?? []
const valuesOf = (pattern: string) =>
  rowsOf(
    `select metric_name, observed_on::varchar as day, value_text from commodity.observation where metric_name like '${pattern}' order by all`
  )
const rebuild = (settings: Readonly<Record<string, string>>) =>
  run("larder-ingest", ["rebuild", "commodities"], { LARDER_HOME: home, ...settings })

describe("larder-ingest catalog check", () => {
  it("prints what the page shows, and the same as JSON", async () => {
    const { code, stdout } = await run("larder-ingest", ["catalog", "check"], own)
    expect(code).toBe(0)
    expect(page).toContain(`\`\`\`\n${stdout.replace(folder, "/etc/larder/catalog")}\`\`\``)
    const json = await run("larder-ingest", ["catalog", "check", "--json"], own)
    expect(JSON.parse(json.stdout)).toMatchObject({
      folder,
      own_metrics: [low, high],
      own_products: ["cream"],
      faults: []
    })
  })

  it("prints only the bundle without a folder", async () => {
    const { code, stdout } = await run("larder-ingest", ["catalog", "check"], {})
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^bundled: 39 feeds.*\nLARDER_CATALOG is not set.*\n$/)])
  })
})

describe("a catalog of one's own, over four days", () => {
  it("adds nothing on the first day, which has none", async () => {
    const { problem, run } = await runDay(1)
    expect([run?.outcome, problem, requested.includes("gov-mars/9001")]).toEqual(["published", "", false])
  })

  it("adds the values of its feed, accepts a new name, and ends a feed that is off", async () => {
    const { problem, run } = await runDay(2, own)
    expect([run?.outcome, problem]).toEqual(["published", ""])
    expect(requested).toHaveLength(39)
    expect(requested).not.toContain(switchedOff.feed)
    expect(await valuesOf("cream%")).toEqual(creams)
    expect(await valuesOf("skim_milk_powder_south_america%")).toHaveLength(4)
    expect(await judge(home, "skim_milk_powder_south_america_price_min_biweekly")).toEqual([
      {
        state: "ended",
        why: "LARDER_CATALOG switches gov-mars/1041 off: no run reads it, and its values stay.",
        late_at: null
      }
    ])
  })

  it("is served: the product lists its metrics, and both have their values", async () => {
    const server = await startServer(home)
    try {
      const { key } = await createKey(home)
      const get = async (target: string) =>
        (await fetch(server.api + target, { headers: { authorization: `Bearer ${key}` } })).json() as Promise<{
          readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
        }>
      const { data: products } = await get("/v1/commodities?category=dairy/cream")
      expect(products).toMatchObject([
        { slug: "cream", attributes: { use: "manufacturing" }, metrics: [{ metric_name: high }, { metric_name: low }] }
      ])
      const { data: values } = await get(`/v1/commodities/metric-values?metrics=${high},${low}`)
      expect(values.map(({ points }) => points)).toEqual([
        [{ date: "2026-09-25", value: 0.74 }],
        [{ date: "2026-09-25", value: 0.59 }]
      ])
    } finally {
      await server.stop()
    }
  })

  it("loses nothing when it is removed: its values stay, and the bundle is read as before", async () => {
    const { problem } = await runDay(3)
    expect(problem).toMatch(/^gov-mars\/1044: .*Upper Midwest/)
    expect(requested).toContain(switchedOff.feed)
    expect(requested).not.toContain("gov-mars/9001")
    expect(await valuesOf("cream%")).toEqual(creams)
    const ended = { state: "ended", why: gone, late_at: null }
    expect(await judge(home, low, high)).toEqual([ended, ended])
    expect(await rowsOf("select subject, kind from commodity.inactive order by all")).toEqual([
      { subject: high, kind: "metric" },
      { subject: low, kind: "metric" },
      { subject: "gov-mars/9001", kind: "feed" }
    ])
    expect(await rowsOf("select slug from commodity.product where slug = 'cream'")).toHaveLength(1)
  })

  it("is read again by a rebuild, which leaves its metrics out without it and says so", async () => {
    const everything = await valuesOf("%")
    const without = await rebuild({})
    expect(without.problems).toContain(
      `2 metrics with values have no line in the catalog (${high}, ${low}). To keep their values, set LARDER_CATALOG to a folder with their lines, and run again.`
    )
    expect([without.code, await valuesOf("cream%")]).toEqual([0, []])
    expect((await rebuild(own)).code).toBe(0)
    expect(await valuesOf("%")).toEqual(everything)
    expect(await rowsOf("select distinct feed, kind from ingest.live_left_out")).toEqual([])
  })

  it("continues on the next day", async () => {
    const { problem, run } = await runDay(4, own)
    expect([problem, run?.outcome]).toEqual(["", "unchanged"])
    expect(await valuesOf("cream%")).toEqual(creams)
  })
})

describe("a faulty catalog", () => {
  it("ends runs, rebuilds, probes and config with all of its faults and exit code 2, before anything is fetched", async () => {
    const faulty = path.join(home, "faulty")
    mkdirSync(faulty)
    writeFileSync(path.join(faulty, "feeds.tsv"), "feed\toff\ngov-mars/1041\tyes\ngov-mars/1O42\toff\n")
    writeFileSync(path.join(faulty, "notes.tsv"), "")
    const message = `larder-ingest: LARDER_CATALOG cannot be used: it has 3 faults. Correct them, and run again.
  ${faulty}/feeds.tsv, line 2, column off: it must be \`off\` or empty.
  ${faulty}/feeds.tsv, line 3, column feed: gov-mars/1O42 is not a feed of the bundle, and a new feed needs its other columns. Did you mean gov-mars/1042?
  ${faulty}/notes.tsv: the file is unknown: a catalog has only feeds.tsv, metrics.tsv, products.tsv.`
    for (const args of [
      ["commodities"],
      ["rebuild", "commodities"],
      ["probe", "commodities"],
      ["config"],
      ["catalog", "check"]
    ]) {
      const { code, problems } = await run("larder-ingest", args, { LARDER_HOME: home, LARDER_CATALOG: faulty })
      expect([args, code]).toEqual([args, 2])
      expect(problems).toContain(message)
    }
  })

  it.each([
    ["missing", () => path.join(home, "nothing"), "there is no such folder"],
    ["empty", () => temporaryFolder(), "the folder is empty"],
    ["a file", () => path.join(folder, "feeds.tsv"), "not a folder"]
  ])("that is %s is refused", async (_, where, problem) => {
    const { code, problems } = await run("larder-ingest", ["catalog", "check"], { LARDER_CATALOG: where() })
    expect([code, problems]).toEqual([2, expect.stringContaining(problem)])
  })
})
