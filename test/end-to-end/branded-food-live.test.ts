/**
 * Live runs of branded foods over a FoodData Central on this machine, in the test's own process and without the pause of a second
 * between requests: which release is fetched, and that what is known is not asked for again.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import type { EndedRun } from "../support/pipelines/live-runs.ts"
import { page, startFdcHost, zipAt } from "./fdc-host.ts"
import { copyOf, folderOfTest, query, rebuiltFrom, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, goodZip, jsonRelease, recordOf as labelOf, leftovers, load } from "./small-releases.ts"

const jsonZip = (...ids: ReadonlyArray<number>) =>
  zipOf({ path: "brandedDownload.json", content: jsonRelease(ids.map((id) => labelOf(id))) })
const [older, newer, newest] = ["2025-12-18", "2026-04-30", "2026-10-29"] as const

type Host = Awaited<ReturnType<typeof startFdcHost>>

/** Both forms of one release: three labels in each, two of them the same. */
const offerBoth = ({ releases }: Host) => {
  releases.clear()
  releases.set(zipAt("csv", older), goodZip(900))
  releases.set(zipAt("csv", newer), goodZip())
  releases.set(zipAt("json", newer), jsonZip(2, 3, 4))
}
const both = [zipAt("json", newer), zipAt("csv", newer)]

const published = ({ problem, run }: EndedRun) => {
  if (run === null || problem !== "") throw new Error(problem)
  return run
}
const addresses = async (home: string) => {
  const [rows = []] = await query(home, "select feed, url from ingest.raw_file order by all")
  return rows.map(({ feed, url }) => `${feed} ${url}`)
}

describe("a live run of branded foods", () => {
  let host: Host
  /** A home after its first live run, in which a download broke off. Tests copy it. */
  const fetched = temporaryFolder()
  let first: ReturnType<typeof published>
  let askedFirst: ReadonlyArray<string> = []
  beforeAll(async () => {
    host = await startFdcHost()
    offerBoth(host)
    host.cutOnce(zipAt("csv", newer))
    first = published(await host.ingest(fetched))
    askedFirst = host.asked()
  })
  beforeEach(() => {
    offerBoth(host)
    host.asked()
  })
  afterAll(() => {
    host.close()
    removeFolder(fetched)
  })

  it("fetches both forms of the newest release that the page names", async () => {
    expect(first).toMatchObject({ origin: "live", outcome: "published", rows_rejected: 0 })
    expect(askedFirst.slice(0, 3)).toEqual([page, ...both])
    expect(await foodsIn(fetched)).toEqual([1, 2, 3, 4])
  })

  it("resumes a download at the byte where it broke off", () => {
    const half = goodZip().length >> 1
    expect(askedFirst.slice(3)).toEqual([`${zipAt("csv", newer)} bytes=${half}-`])
  })

  it("requests only the page when the release is known", async () => {
    const home = copyOf(fetched)
    const { rows_read } = first
    const unchanged = { outcome: "unchanged", generation: null, rows_read, rows_loaded: 0, rows_unchanged: rows_read }
    expect(published(await host.ingest(home))).toMatchObject(unchanged)
    expect(host.asked()).toEqual([page])
    expect(leftovers(home)).toEqual([])
  })

  it("fetches a newer release in the forms that it has", async () => {
    const home = copyOf(fetched)
    host.releases.set(zipAt("json", newest), jsonZip(4, 5))
    expect(published(await host.ingest(home))).toMatchObject({ outcome: "published", rows_read: 2, rows_loaded: 1 })
    expect(host.asked()).toEqual([page, zipAt("json", newest)])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5])
  })

  it("fetches a release that was loaded from a file only once, loads only what is new, and records its address", async () => {
    const home = folderOfTest()
    const byHand = path.join(folderOfTest(), "download.zip")
    writeFileSync(byHand, host.releases.get(zipAt("csv", newer)) ?? "")
    const { code, stderr } = await load(home, byHand)
    expect(code, stderr).toBe(0)
    expect(await addresses(home)).toEqual(["gov-fdc/csv file:download.zip"])
    const live = published(await host.ingest(home))
    expect(live).toMatchObject({ rows_loaded: 1, rows_rejected: 0 }) // 4, of the JSON
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4])
    expect(host.asked()).toEqual([page, ...both])
    const [json = "", csv = ""] = both.map((address) => `https://fdc.nal.usda.gov${address}`)
    const after = ["gov-fdc/csv file:download.zip", `gov-fdc/csv ${csv}`, `gov-fdc/json ${json}`]
    expect(await addresses(home)).toEqual(after)

    expect(published(await host.ingest(home))).toMatchObject({ outcome: "unchanged", rows_read: live.rows_read })
    expect(host.asked()).toEqual([page])
    expect(await addresses(await rebuiltFrom(home))).toEqual(after)
  })

  it("fails when neither address of the page names a release, and says how to load one by hand", async () => {
    host.releases.clear()
    const { problem, run } = await host.ingest(folderOfTest())
    expect(run).toBeNull()
    expect(problem).toMatch(/No release of branded foods was found.*larder-ingest branded-foods --file <zip>/)
    expect(host.asked()).toEqual([page, `${page}.html`])
  })
})
