/**
 * Kills real runs of commodities at the moments when files appear, which are detected by watching the folders. At every
 * moment, the old or the new generation is live and complete, and the next run produces the rows of an undisturbed one. One
 * run is examined at all given moments. `rounds` sets how often a run is killed at each of them, each time a little later.
 */
import { existsSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  copyForTest,
  copyHome,
  generationOf,
  makeTestFolder,
  query,
  removeFolder,
  replayFolder,
  runStatus,
  temporaryFolder
} from "../end-to-end/ingesting.ts"
import { aBlockRow, blocks, bodyOf, everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { filesIn } from "../support/pipelines/raw-archive.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"
import {
  appears,
  changes,
  copyAtMoments,
  countUnrecorded,
  digestOf,
  disappears,
  expectTidy,
  hasManifest,
  type KilledHome,
  listStaged,
  type Moment,
  namesIn,
  objectsAppear,
  queryFiles,
  runKilled
} from "./killed-runs.ts"

let home = ""
let older = ""
let newer = ""
/** The number of versions in the first generation. */
let versions = 0
let undisturbedDigest: unknown

beforeAll(async () => {
  home = temporaryFolder()
  older = temporaryFolder()
  newer = temporaryFolder()
  writeRecordings(older, everyFeed())
  const weeks = Array.from({ length: 200 }, (_, week) => ({
    "Week Ending Date": new Date(Date.UTC(2022, 0, 1 + 7 * week)).toLocaleDateString("en-US", {
      timeZone: "UTC",
      year: "numeric",
      month: "2-digit",
      day: "2-digit"
    })
  }))
  writeRecordings(newer, {
    ...everyFeed(),
    [blocks.feed]: bodyOf(blocks, [aBlockRow(), ...weeks.map((week) => aBlockRow(week))])
  })
  const { code, stderr } = await replayFolder(home, older)
  if (code !== 0) throw new Error(stderr)
  versions = await countVersions(home)
  const copy = copyHome(home)
  await replayFolder(copy, newer)
  undisturbedDigest = await digestPrices(copy)
  removeFolder(copy)
})
afterAll(() => [home, older, newer].map(removeFolder))

const countVersions = async (home: string) => {
  const [rows] = await query(home, "select count(*)::integer as versions from commodity.observation_version")
  return Number(rows?.[0]?.versions)
}
const digestPrices = (home: string) => digestOf(home, "commodity.observation_version", "run_id", "fetched_at")
const countFetches = (home: string) => namesIn(path.join(home, "raw/fetches")).length

const isStaging = (home: string) => namesIn(path.join(home, "staging")).length > 0
const isBuilding = (home: string) => listStaged(home).includes("built.duckdb")
const isWriting = (home: string) => listStaged(home).includes("built.duckdb.wal")
const countPayloads = (home: string) =>
  filesIn(path.join(home, "raw")).filter((name) => /^[0-9a-f]{2}\//.test(name)).length
const archivesPayload: Moment = (home) => {
  const before = countPayloads(home)
  return () => countPayloads(home) > before
}

/** Moments of a run on a home that has one generation, in their order. */
const moments = {
  "its staging folder appears": appears(isStaging),
  "its staging file appears": appears((home) => listStaged(home).includes("rows.duckdb")),
  "a new payload is in the archive": archivesPayload,
  "its list names a payload": appears((home) => countFetches(home) > 1),
  "new rows have been written": disappears((home) => listStaged(home).includes("rows.duckdb.wal")),
  "the copy of the live database appears": appears(isBuilding),
  "it writes to the copy": appears(isWriting),
  "the copy has been written": disappears(isWriting),
  "its database is in the depot": objectsAppear(),
  "its records are in the depot": objectsAppear(2),
  "its manifest appears": appears((home) => hasManifest(home, 2)),
  "the file of its data set changes": changes("commodities.duckdb"),
  "ingestion.duckdb changes": changes("ingestion.duckdb"),
  "it has cleaned up": disappears(isStaging)
} satisfies Readonly<Record<string, Moment>>
type Name = keyof typeof moments
export const everyMoment = Object.keys(moments) as ReadonlyArray<Name>
/** The run may have ended before one of these is detected. */
const lastMoments = everyMoment.slice(8)

const replayKilled = (home: string, moment: Moment, delay = 0, signal: NodeJS.Signals = "SIGKILL") =>
  runKilled(home, ["commodities", "--replay", newer], moment, { delay, signal })

/** The next run loads all of the newer recordings. `runs` is the number of runs before it. */
const expectComplete = async (home: string, runs: number) => {
  const next = await replayFolder(home, newer)
  expect(next.code, next.stderr).toBe(0)
  expect(await countVersions(home)).toBe(versions + 200)
  expect(namesIn(path.join(home, "raw/incoming"))).toEqual([])
  await expectTidy(home, runs + 1)
}

const selectVersions = "select count(*)::integer as versions from commodity.observation_version"

/** A killed run has left the old or the new generation, and the next run completes. */
const expectRecovered = async (copy: string) => {
  const isPublished = hasManifest(copy, 2)
  const [opened] = await queryFiles(copy, selectVersions)
  const versionsFound = opened?.[0]?.versions
  expect(isPublished ? [versions, versions + 200] : [versions]).toContain(versionsFound)
  expect(generationOf(copy, "commodities")).toBe(isPublished ? "larder-000002" : "larder-000001")
  await runStatus(copy)
  expect(await countVersions(copy)).toBe(isPublished ? versions + 200 : versions)
  await expectComplete(copy, isPublished ? 2 : 1 + countUnrecorded(copy, isPublished))
  expect(await digestPrices(copy)).toBe(undisturbedDigest)
}

export const testPublishKills = (names: ReadonlyArray<Name>, { rounds }: { readonly rounds: number }) => {
  describe("a run that is killed with -9", () => {
    let copies: ReadonlyArray<KilledHome> = []
    beforeAll(async () => {
      const args = ["commodities", "--replay", newer]
      const stopped = copyHome(home)
      copies = await copyAtMoments(
        stopped,
        args,
        names.map((name) => moments[name]),
        selectVersions
      )
      removeFolder(stopped)
    })
    afterAll(() => copies.map(({ home }) => removeFolder(home)))

    it.each(names)("leaves a complete generation when %s, and the next run completes", async (name) => {
      const { home: copy = "", seen = [], wasRunning } = copies[names.indexOf(name)] ?? {}
      if (!lastMoments.includes(name)) expect(wasRunning).toBe(true)
      expect([versions, versions + 200]).toContain(seen[0]?.versions)
      await expectRecovered(copy)
    })

    for (let round = 0; round < rounds; round++) {
      const delay = round * 7
      it.each(names)(`leaves a complete generation ${delay} ms after %s, and the next run completes`, async (name) => {
        const copy = copyForTest(home)
        const { signal } = await replayKilled(copy, moments[name], delay)
        if (round === 0 && !lastMoments.includes(name)) expect(signal).toBe("SIGKILL")
        await expectRecovered(copy)
      })
    }

    it.each([
      ["it stages", "rows.duckdb.wal"],
      ["its rows have passed the checks", "records.gz"]
    ])("leaves no generation in an empty home when %s, and the next run creates one", async (_, file) => {
      const empty = makeTestFolder()
      await replayKilled(
        empty,
        appears((home) => listStaged(home).includes(file))
      )
      expect(hasManifest(empty, 1)).toBe(false)
      expect(existsSync(path.join(empty, "warehouse/larder.duckdb"))).toBe(false)
      await expectComplete(empty, countUnrecorded(empty, false))
      expect(generationOf(empty, "commodities")).toBe("larder-000002") // the first one contains the record of the killed run
    })
  })

  describe("a run that is interrupted with Ctrl-C", () => {
    it("cleans up, exits with 130 and is recorded, both while it stages and while it builds", async () => {
      const copy = copyForTest(home)
      const fetchedBefore = countFetches(copy)
      const selectRuns = "select outcome, message, generation from ingest.run order by started_at"
      const recorded: Array<unknown> = [{ outcome: "published", message: null, generation: "larder-000001" }]
      for (const moment of [appears((home) => countFetches(home) > fetchedBefore), appears(isBuilding)]) {
        const { code, stdout } = await replayKilled(copy, moment, 0, "SIGINT")
        const interrupted = { outcome: "interrupted", message: "interrupted", generation: null }
        expect(code).toBe(130)
        expect(JSON.parse(stdout)).toMatchObject({ ...interrupted, problem: "interrupted" })
        recorded.push(interrupted)
        const [runs] = await query(copy, selectRuns)
        expect(runs).toEqual(recorded)
        expect(generationOf(copy, "commodities")).toBe("larder-000001")
        await expectTidy(copy, recorded.length)
        expect(listLeftoverFiles(copy)).toEqual([])
      }
      await expectComplete(copy, recorded.length)
      const [runs] = await query(copy, selectRuns)
      expect(runs).toEqual([...recorded, { outcome: "published", message: null, generation: "larder-000004" }])
    })
  })
}
