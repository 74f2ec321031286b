/**
 * Live runs of branded foods over a FoodData Central on this machine: which release is fetched, and that what is known is not
 * asked for again. Requests keep their real pace of one per second. A minute.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { type Ended, run } from "../support/programs.ts"
import { page, startFdcHost, zipAt } from "./fdc-host.ts"
import { folderOfTest, query, recordOf } from "./ingesting.ts"
import { foodsIn, goodZip, jsonRelease, recordOf as labelOf, leftovers, load } from "./small-releases.ts"

const jsonZip = (...ids: ReadonlyArray<number>) =>
  zipOf({ path: "brandedDownload.json", content: jsonRelease(ids.map((id) => labelOf(id))) })
const [older, newer, newest] = ["2025-12-18", "2026-04-30", "2026-10-29"] as const

/** Both forms of one release: three labels in each, two of them the same. */
const hostWithBoth = async () => {
  const host = await startFdcHost()
  host.releases.set(zipAt("csv", older), goodZip(900))
  host.releases.set(zipAt("csv", newer), goodZip())
  host.releases.set(zipAt("json", newer), jsonZip(2, 3, 4))
  return host
}
const both = [zipAt("json", newer), zipAt("csv", newer)]

const ended = ({ code, stderr, stdout }: Ended) => {
  expect(code, stderr).toBe(0)
  return recordOf({ stdout })
}
const addresses = async (home: string) => {
  const [rows = []] = await query(home, "select feed, url from ingest.raw_file order by all")
  return rows.map(({ feed, url }) => `${feed} ${url}`)
}
const known = (...at: ReadonlyArray<string>) => at.map((address) => `https://fdc.nal.usda.gov${address}`)

describe("a live run of branded foods", () => {
  it("fetches both forms of the newest release that the page names, and the next one asks for nothing but the page", async () => {
    const host = await hostWithBoth()
    const home = folderOfTest()
    const first = ended(await host.ingest(home))
    expect(first).toMatchObject({ origin: "live", outcome: "published", rows_rejected: 0 })
    expect(host.asked()).toEqual([page, ...both])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4])

    const { rows_read } = first
    const again = { outcome: "unchanged", generation: null, rows_read, rows_loaded: 0, rows_unchanged: rows_read }
    expect(ended(await host.ingest(home))).toMatchObject(again)
    expect(host.asked()).toEqual([page])
    expect(leftovers(home)).toEqual([])
  })

  it("fetches a newer release when one is out, in the forms that it has", async () => {
    const host = await hostWithBoth()
    const home = folderOfTest()
    ended(await host.ingest(home))
    host.asked()
    host.releases.set(zipAt("json", newest), jsonZip(4, 5))
    expect(ended(await host.ingest(home))).toMatchObject({ outcome: "published", rows_read: 2, rows_loaded: 1 })
    expect(host.asked()).toEqual([page, zipAt("json", newest)])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5])
  })

  it("goes on with a download that broke off", async () => {
    const host = await hostWithBoth()
    const home = folderOfTest()
    host.cutOnce(zipAt("csv", newer))
    ended(await host.ingest(home))
    const half = goodZip().length >> 1
    expect(host.asked()).toEqual([page, ...both, `${zipAt("csv", newer)} bytes=${half}-`])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4])
  })

  it("fetches what was loaded from a file once, loads none of it again, and knows its address from then on", async () => {
    const host = await hostWithBoth()
    const home = folderOfTest()
    const byHand = path.join(folderOfTest(), "download.zip")
    for (const zip of both) {
      writeFileSync(byHand, host.releases.get(zip) ?? "")
      ended(await load(home, byHand))
    }
    const before = ["gov-fdc/csv file:download.zip", "gov-fdc/json file:download.zip"]
    expect(await addresses(home)).toEqual(before)
    const live = ended(await host.ingest(home))
    expect(live).toMatchObject({ rows_loaded: 0, rows_unchanged: live.rows_read, rows_rejected: 0 })
    expect(host.asked()).toEqual([page, ...both])
    const [json = "", csv = ""] = known(...both)
    const after = [before[0], `gov-fdc/csv ${csv}`, before[1], `gov-fdc/json ${json}`]
    expect(await addresses(home)).toEqual(after)

    expect(ended(await host.ingest(home))).toMatchObject({ outcome: "unchanged", rows_read: live.rows_read })
    expect(host.asked()).toEqual([page])
    const into = folderOfTest()
    expect((await run("larder-ingest", ["rebuild", "--into", into], { LARDER_HOME: home })).code).toBe(0)
    expect(await addresses(into)).toEqual(after)
  })

  it("fetches the form alone that no file was loaded of", async () => {
    const host = await hostWithBoth()
    const home = folderOfTest()
    const byHand = path.join(folderOfTest(), "download.zip")
    writeFileSync(byHand, host.releases.get(zipAt("csv", newer)) ?? "")
    ended(await load(home, byHand))
    expect(ended(await host.ingest(home))).toMatchObject({ outcome: "published", rows_loaded: 1 }) // 4, of the JSON
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4])
    host.asked()
    expect(ended(await host.ingest(home))).toMatchObject({ outcome: "unchanged" })
    expect(host.asked()).toEqual([page])
  })

  it("that finds no release under either address of the page ends with 1, and says how to go on by hand", async () => {
    const host = await startFdcHost()
    const { code, stderr } = await host.ingest(folderOfTest())
    expect(code).toBe(1)
    expect(stderr).toMatch(/names no release of branded foods.*larder-ingest branded-foods --file <zip>/)
    expect(host.asked()).toEqual([page, `${page}.html`])
  })
})
