/**
 * Live runs of branded foods from a FoodData Central on this machine, in the process of the test and without pauses between
 * requests: which release is fetched, and that known releases are not requested again.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import type { EndedRun } from "../support/pipelines/live-runs.ts"
import { goodZip, jsonRelease, recordOf as labelOf } from "../support/pipelines/small-releases.ts"
import { downloadPage, startFdcHost, zipAt } from "./fdc-host.ts"
import { copyForTest, makeTestFolder, query, rebuildFrom, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, listLeftovers, load } from "./small-releases.ts"

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
/** The forms are requested at the same time, so that either may arrive first. */
const pageAndBoth = [downloadPage, ...both].toSorted()

const requirePublished = ({ problem, run }: EndedRun) => {
  if (run === null || problem !== "") throw new Error(problem)
  return run
}
const readAddresses = async (home: string) => {
  const [rows = []] = await query(home, "select feed, url from ingest.raw_file order by all")
  return rows.map(({ feed, url }) => `${feed} ${url}`)
}

describe("a live run of branded foods", () => {
  let host: Host
  /** A home after its first live run, in which a download broke off. Tests copy it. */
  const fetched = temporaryFolder()
  let first: ReturnType<typeof requirePublished>
  let firstRequests: ReadonlyArray<string> = []
  beforeAll(async () => {
    host = await startFdcHost()
    offerBoth(host)
    host.breakOffOnce(zipAt("csv", newer))
    first = requirePublished(await host.ingest(fetched))
    firstRequests = host.takeRequests()
  })
  beforeEach(() => {
    offerBoth(host)
    host.takeRequests()
  })
  afterAll(() => {
    host.close()
    removeFolder(fetched)
  })

  it("fetches both forms of the newest release that the page names", async () => {
    expect(first).toMatchObject({ origin: "live", outcome: "published", rows_rejected: 0 })
    expect(firstRequests.slice(0, 3).toSorted()).toEqual(pageAndBoth)
    expect(await foodsIn(fetched)).toEqual([1, 2, 3, 4])
  })

  it("resumes a download at the byte where it broke off", () => {
    const half = goodZip().length >> 1
    expect(firstRequests.slice(3)).toEqual([`${zipAt("csv", newer)} bytes=${half}-`])
  })

  it("requests only the page when the release is known", async () => {
    const home = copyForTest(fetched)
    const { rows_read } = first
    const unchanged = { outcome: "unchanged", generation: null, rows_read, rows_loaded: 0, rows_unchanged: rows_read }
    expect(requirePublished(await host.ingest(home))).toMatchObject(unchanged)
    expect(host.takeRequests()).toEqual([downloadPage])
    expect(listLeftovers(home)).toEqual([])
  })

  it("fetches a newer release in the form that the page lists, and leaves out the other", async () => {
    const home = copyForTest(fetched)
    host.releases.set(zipAt("json", newest), jsonZip(4, 5))
    expect(await host.ingest(home)).toMatchObject({
      run: { outcome: "partial", rows_read: 2, rows_loaded: 1 },
      problem: "gov-fdc/csv: the download page does not list the CSV form of the release of 2026-10-29"
    })
    expect(host.takeRequests()).toEqual([downloadPage, zipAt("json", newest)])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5])
  })

  it("fetches a release that was loaded from a file once more, loads only new rows, and records its address", async () => {
    const home = makeTestFolder()
    const download = path.join(makeTestFolder(), "download.zip")
    writeFileSync(download, host.releases.get(zipAt("csv", newer)) ?? "")
    const { code, stderr } = await load(home, download)
    expect(code, stderr).toBe(0)
    expect(await readAddresses(home)).toEqual(["gov-fdc/csv file:download.zip"])
    const live = requirePublished(await host.ingest(home))
    expect(live).toMatchObject({ rows_loaded: 1, rows_rejected: 0 }) // 4, from the JSON
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4])
    expect(host.takeRequests().toSorted()).toEqual(pageAndBoth)
    const [json = "", csv = ""] = both.map((address) => `https://fdc.nal.usda.gov${address}`)
    const after = ["gov-fdc/csv file:download.zip", `gov-fdc/csv ${csv}`, `gov-fdc/json ${json}`]
    expect(await readAddresses(home)).toEqual(after)

    expect(requirePublished(await host.ingest(home))).toMatchObject({ outcome: "unchanged", rows_read: live.rows_read })
    expect(host.takeRequests()).toEqual([downloadPage])
    expect(await readAddresses(await rebuildFrom(home))).toEqual(after)
  })

  it("fails when neither address of the page names a release, and explains how to load one by hand", async () => {
    host.releases.clear()
    const { problem, run } = await host.ingest(makeTestFolder())
    expect(run).toBeNull()
    expect(problem).toMatch(/No release of branded foods was found.*larder-ingest branded-foods --file <zip>/)
    expect(host.takeRequests()).toEqual([downloadPage, `${downloadPage}.html`])
  })
})
