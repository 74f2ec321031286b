/** The operator's own catalog on several machines, across a rollback, and when a new version would rebuild without it. */
import path from "node:path"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { run, startServer } from "../support/programs.ts"
import { query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { creams, gone, high, judge, low, startHosts, switchedOff, writeCatalog } from "./own-catalog.ts"

const root = temporaryFolder()
const folder = path.join(root, "catalog")
const own = { LARDER_CATALOG: folder }
const { close, requested, runDay } = startHosts()
beforeAll(() => writeCatalog(folder))
afterAll(() => {
  close()
  removeFolder(root)
})

const rowsOf = async (home: string, sql: string) => (await query(home, sql))[0] ?? []
const creamsIn = (home: string) =>
  rowsOf(
    home,
    "select metric_name, observed_on::varchar as day, value_text from commodity.observation where metric_name like 'cream%' order by all"
  )
const inactiveIn = async (home: string) =>
  (await rowsOf(home, "select subject from commodity.inactive where kind = 'feed' order by all")).map(
    ({ subject }) => subject
  )
const ended = { state: "ended", why: gone, late_at: null }
const statesOf = async (home: string) => (await judge(home, low, high))?.map(({ state }) => state)

describe("machines with one depot, of which one has a catalog of its own", () => {
  const depot = { LARDER_DEPOT: path.join(root, "depot") }
  const [withCatalog, without] = [path.join(root, "with"), path.join(root, "without")]

  it("show what was published with it, although it is not in force there", async () => {
    expect((await runDay(2, withCatalog, { ...own, ...depot })).problem).toBe("")
    const pulled = await run("larder-ingest", ["pull"], { LARDER_HOME: without, ...depot })
    expect([pulled.code, pulled.problems]).toEqual([0, ""])
    const check = await run("larder-ingest", ["catalog", "check", "--json"], { LARDER_HOME: without, ...depot })
    expect(JSON.parse(check.stdout)).toMatchObject({ folder: null, own_metrics: [], off: [] })
    expect(await creamsIn(without)).toEqual(creams)
    expect(await inactiveIn(without)).toEqual([switchedOff.feed])
    expect(await judge(without, low, high)).toEqual(await judge(withCatalog, low, high))
    expect(await statesOf(without)).not.toContain("ended")
    const server = await startServer(without)
    try {
      const { key } = await createKey(without)
      const response = await fetch(`${server.api}/v1/commodities?category=dairy/cream`, {
        headers: { authorization: `Bearer ${key}` }
      })
      expect(await response.json()).toMatchObject({
        data: [{ metrics: [{ metric_name: high }, { metric_name: low }] }]
      })
    } finally {
      await server.stop()
    }
  })

  it("keep its values if the other one publishes, and continue them when it publishes again", async () => {
    await runDay(3, without, depot)
    expect(requested).not.toContain("gov-mars/9001")
    expect(await creamsIn(without)).toEqual(creams)
    expect(await judge(without, low, high)).toEqual([ended, ended])
    expect(await inactiveIn(without)).toEqual(["gov-mars/9001"])

    expect((await runDay(4, withCatalog, { ...own, ...depot })).problem).toBe("")
    expect(requested).toContain("gov-mars/9001")
    expect(await creamsIn(withCatalog)).toEqual(creams)
    expect(await statesOf(withCatalog)).not.toContain("ended")
    expect(await inactiveIn(withCatalog)).toEqual([switchedOff.feed])
  })
})

describe("a rollback across a change of the catalog", () => {
  const home = path.join(root, "rolled-back")
  const settings = { LARDER_HOME: home, ...own }

  it("removes what the change added, and what it switched off is judged as before", async () => {
    await runDay(1, home)
    const before = await judge(home, "skim_milk_powder_south_america_price_min_biweekly")
    expect((await runDay(2, home, own)).run?.outcome).toBe("published")
    expect((await run("larder-ingest", ["rollback", "--only", "commodities"], settings)).code).toBe(0)
    expect(await creamsIn(home)).toEqual([])
    expect(await rowsOf(home, "select slug from commodity.product where slug = 'cream'")).toEqual([])
    expect(await inactiveIn(home)).toEqual([])
    expect(await judge(home, "skim_milk_powder_south_america_price_min_biweekly")).toEqual(before)
  })

  it("is not undone by a rebuild, but by the next run with the catalog", async () => {
    expect((await run("larder-ingest", ["rebuild", "commodities"], settings)).code).toBe(0)
    expect(await creamsIn(home)).toEqual([])
    expect(await inactiveIn(home)).toEqual([switchedOff.feed])
    expect((await runDay(2, home, own)).problem).toBe("")
    expect(await creamsIn(home)).toEqual(creams)
  })

  it("comes before a new version that would lose the values: its run fails until the catalog is back", async () => {
    const next = { ...commodities, mappingVersion: commodities.mappingVersion + 1 }
    const { problem, run } = await runDay(3, home, {}, next)
    expect(run).toBeNull()
    expect(problem).toContain(
      `Nothing was published. 2 metrics with values have no line in the catalog (${high}, ${low}). To keep their values, set LARDER_CATALOG to a folder with their lines, and run again. A rebuild without these lines leaves the values out; their payloads stay in the raw archive. Rebuild it from the raw archive with: npx larder-ingest rebuild commodities`
    )
    expect(await creamsIn(home)).toEqual(creams)
    expect((await runDay(3, home, own, next)).problem).toBe("")
    expect(await creamsIn(home)).toEqual(creams)
  })
})
