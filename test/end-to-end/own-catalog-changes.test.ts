/** The operator's own catalog across a rollback, and when a new version would rebuild without it. */
import path from "node:path"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "../support/programs.ts"
import { query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { creams, high, judge, low, startHosts, switchedOff, writeCatalog } from "./own-catalog.ts"

const root = temporaryFolder()
const folder = path.join(root, "catalog")
const own = { LARDER_CATALOG: folder }
const { close, runDay } = startHosts()
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
