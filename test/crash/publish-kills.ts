/**
 * Kills real runs of commodities where it hurts most: at the moments when files appear, seen by watching the folders. Whatever the
 * moment, the old or the new generation is live and whole, and the next run completes with the rows of an undisturbed one. One run is looked at in all of the
 * given moments; `rounds` says how often a run is killed at each of them, each time a little later.
 */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  copyIn,
  copyOf,
  folderOfTest,
  generationOf,
  query,
  removeFolder,
  replayFolder,
  temporaryFolder
} from "../end-to-end/ingesting.ts"
import { aBlockRow, blocks, bodyOf, everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { appears, digestOf, goes, type Left, leftAt, type Moment, namesIn, runKilled, staged } from "./killed-runs.ts"

let home = ""
let older = ""
let newer = ""
/** Of prices, in the first generation. */
let versions = 0
let undisturbed: unknown

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
  versions = await count(home)
  const copy = copyIn(home)
  await replayFolder(copy, newer)
  undisturbed = await prices(copy)
  removeFolder(copy)
})
afterAll(() => [home, older, newer].map(removeFolder))

const count = async (home: string) => {
  const [rows] = await query(home, "select count(*)::integer as versions from commodity.price_version")
  return Number(rows?.[0]?.versions)
}
const prices = (home: string) => digestOf(home, "commodity.price_version", "run_id", "fetched_at")
const warehouse = (home: string) => namesIn(path.join(home, "warehouse"))
const fetched = (home: string) => namesIn(path.join(home, "raw/fetches")).length

const isStaging = (home: string) => namesIn(path.join(home, "staging")).length > 0
const isBuilding = (home: string) => warehouse(home).some((name) => name.endsWith(".building"))
const isWriting = (home: string) => warehouse(home).some((name) => name.endsWith(".building.wal"))
const packs = (home: string) => namesIn(path.join(home, "raw/packs")).filter((name) => name.endsWith(".zip"))
const hasPacked = (home: string) => packs(home).length > 1
const hasSwung = (home: string) => generationOf(home) === "larder-000002.duckdb"

/** Moments of a run on a home that has one generation, in their order. */
const moments = {
  "its staging folder appears": appears(isStaging),
  "its staging file appears": appears((home) => staged(home).includes("rows.duckdb")),
  "it has fetched a payload": appears((home) => fetched(home) > 1),
  "it has staged everything": goes((home) => staged(home).includes("rows.duckdb.wal")),
  "the copy of the live generation appears": appears(isBuilding),
  "it writes to the copy": appears(isWriting),
  "the copy has been written": goes(isWriting),
  "the new generation gets its name": appears((home) => warehouse(home).includes("larder-000002.duckdb")),
  "the new link appears": appears((home) => warehouse(home).includes(".larder.duckdb.next") || hasSwung(home)),
  "the link has swung": appears(hasSwung),
  "it has tidied up": goes(isStaging),
  "its pack appears": appears(hasPacked)
} satisfies Readonly<Record<string, Moment>>
type Name = keyof typeof moments
export const everyMoment = Object.keys(moments) as ReadonlyArray<Name>
/** The last moments: the run may be over before one is seen. */
const mayHaveEnded = everyMoment.slice(6)

const replayKilled = (home: string, moment: Moment, delay = 0, signal: NodeJS.Signals = "SIGKILL") =>
  runKilled(home, ["commodities", "--replay", newer], moment, { delay, signal })

/** Nothing that a run builds or stages lies around, and the whole of the newer recordings is live. */
const expectComplete = async (home: string, all = versions + 200) => {
  const next = await replayFolder(home, newer)
  expect(next.code, next.stderr).toBe(0)
  expect(await count(home)).toBe(all)
  expect(namesIn(path.join(home, "staging"))).toEqual([])
  expect(namesIn(path.join(home, "raw/incoming"))).toEqual([])
  expect(
    warehouse(home).filter((name) => !/^(\.publish\.lock|larder\.duckdb|larder-\d{6}\.duckdb)$/.test(name))
  ).toEqual([])
  const [twice] = await query(home, "select run_id from ingest.run group by all having count(*) > 1")
  expect(twice).toEqual([])
}

/** What a killed run has left is the old or the new generation, and the next run completes. */
const expectRecovered = async (copy: string) => {
  const left = await count(copy)
  expect([versions, versions + 200]).toContain(left)
  expect(generationOf(copy)).toBe(left === versions ? "larder-000001.duckdb" : "larder-000002.duckdb")
  await expectComplete(copy)
  expect(await prices(copy)).toBe(undisturbed)
}

export const publishKills = (names: ReadonlyArray<Name>, rounds: number) => {
  describe("a run that is killed with -9", () => {
    let left: ReadonlyArray<Left> = []
    beforeAll(async () => {
      const args = ["commodities", "--replay", newer]
      const stopped = copyIn(home)
      left = await leftAt(
        stopped,
        args,
        names.map((name) => moments[name])
      )
      removeFolder(stopped)
    })
    afterAll(() => left.map(({ home }) => removeFolder(home)))

    it.each(names)("leaves a whole generation when %s, and the next run completes", async (name) => {
      const { home: copy = "", wasRunning } = left[names.indexOf(name)] ?? {}
      if (!mayHaveEnded.includes(name)) expect(wasRunning).toBe(true)
      await expectRecovered(copy)
    })

    for (let round = 0; round < rounds; round++) {
      const delay = round * 7
      it.each(names)(`leaves a whole generation ${delay} ms after %s, and the next run completes`, async (name) => {
        const copy = copyOf(home)
        const { signal } = await replayKilled(copy, moments[name], delay)
        if (round === 0 && !mayHaveEnded.includes(name)) expect(signal).toBe("SIGKILL")
        await expectRecovered(copy)
      })
    }

    it("leaves no warehouse in an empty home, and the next run makes one", async () => {
      const empty = folderOfTest()
      await replayKilled(
        empty,
        appears((home) => warehouse(home).length > 0)
      )
      expect(existsSync(path.join(empty, "warehouse/larder.duckdb"))).toBe(false)
      await expectComplete(empty)
      expect(generationOf(empty)).toBe("larder-000001.duckdb")
    })
  })

  describe("a run that is interrupted with Ctrl-C", () => {
    const journal = (home: string) =>
      namesIn(path.join(home, "journal")).map((name) =>
        JSON.parse(readFileSync(path.join(home, "journal", name), "utf8"))
      )

    it("tidies up, exits with 130 and is recorded, both while it stages and while it builds", async () => {
      const copy = copyOf(home)
      const interrupted = { run: { outcome: "interrupted", message: "interrupted", generation: null } }
      const fetchedBefore = fetched(copy)
      for (const [times, comes] of [appears((home) => fetched(home) > fetchedBefore), appears(isBuilding)].entries()) {
        const { code, stdout } = await replayKilled(copy, comes, 0, "SIGINT")
        expect(code).toBe(130)
        expect(JSON.parse(stdout)).toMatchObject({ ...interrupted.run, problem: "interrupted" })
        expect(namesIn(path.join(copy, "staging"))).toEqual([])
        expect(packs(copy)).toHaveLength(1) // the next run may go on with what this one fetched
        expect(warehouse(copy).sort()).toEqual([".publish.lock", "larder-000001.duckdb", "larder.duckdb"])
        expect(journal(copy)).toMatchObject(Array.from({ length: times + 1 }, () => interrupted))
      }
      await expectComplete(copy)
      const [runs] = await query(copy, "select outcome from ingest.run order by started_at")
      expect(runs?.map(({ outcome }) => outcome)).toEqual(["published", "interrupted", "interrupted", "published"])
      expect(journal(copy)).toEqual([])
    })
  })
}
