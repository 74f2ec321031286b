/**
 * Kills real ingest runs where it hurts most: at the moments when files appear, seen by watching the folders. Whatever the
 * moment, the old or the new generation is live and whole, and the next run completes. One run is looked at in all of its
 * moments; `rounds` says how often a run is killed at each of them, each time a little later.
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
import { appears, goes, type Left, leftAt, type Moment, namesIn, runKilled, staged } from "./killed-runs.ts"

let home = ""
let older = ""
let newer = ""
/** Of prices, in the first generation. */
let versions = 0

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
})
afterAll(() => [home, older, newer].map(removeFolder))

const count = async (home: string) => {
  const [rows] = await query(home, "select count(*)::integer as versions from commodity.price_version")
  return Number(rows?.[0]?.versions)
}
const warehouse = (home: string) => namesIn(path.join(home, "warehouse"))
const fetched = (home: string) => namesIn(path.join(home, "raw/fetches")).length

const isStaging = (home: string) => namesIn(path.join(home, "staging")).length > 0
const isBuilding = (home: string) => warehouse(home).some((name) => name.endsWith(".building"))
const isWriting = (home: string) => warehouse(home).some((name) => name.endsWith(".building.wal"))
const hasSwung = (home: string) => generationOf(home) === "larder-000002.duckdb"

/** Moments of a run on a home that has one generation, in their order. */
const moments: ReadonlyArray<readonly [string, Moment]> = [
  ["its staging folder appears", appears(isStaging)],
  ["its staging file appears", appears((home) => staged(home).includes("rows.duckdb"))],
  ["it has fetched a payload", appears((home) => fetched(home) > 1)],
  ["it has staged everything", goes((home) => staged(home).includes("rows.duckdb.wal"))],
  ["the copy of the live generation appears", appears(isBuilding)],
  ["it writes to the copy", appears(isWriting)],
  ["the copy has been written", goes(isWriting)],
  ["the new generation gets its name", appears((home) => warehouse(home).includes("larder-000002.duckdb"))],
  ["the new link appears", appears((home) => warehouse(home).includes(".larder.duckdb.next") || hasSwung(home))],
  ["the link has swung", appears(hasSwung)],
  ["it has tidied up", goes(isStaging)]
]

const replayKilled = (home: string, moment: Moment, delay = 0, signal: NodeJS.Signals = "SIGKILL") =>
  runKilled(home, ["commodities", "--replay", newer], moment, { delay, signal })

/** Nothing that a run builds or stages lies around, and the whole of the newer recordings is live. */
const expectComplete = async (home: string, all = versions + 200) => {
  const next = await replayFolder(home, newer)
  expect(next.code, next.stderr).toBe(0)
  expect(await count(home)).toBe(all)
  expect(namesIn(path.join(home, "staging"))).toEqual([])
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
}

export const publishKills = ({ rounds }: { readonly rounds: number }) => {
  describe("a run that is killed with -9", () => {
    let left: ReadonlyArray<Left> = []
    beforeAll(async () => {
      const args = ["commodities", "--replay", newer]
      const stopped = copyIn(home)
      left = await leftAt(
        stopped,
        args,
        moments.map(([, moment]) => moment)
      )
      removeFolder(stopped)
    })
    afterAll(() => left.map(({ home }) => removeFolder(home)))

    it.each(moments.map(([moment], index) => ({ moment, index })))(
      "leaves a whole generation when $moment, and the next run completes",
      async ({ index }) => {
        const { home: copy = "", wasRunning } = left[index] ?? {}
        if (index < 6) expect(wasRunning).toBe(true) // later it may have ended before it was seen
        await expectRecovered(copy)
      }
    )

    for (let round = 0; round < rounds; round++) {
      for (const [index, [moment, comes]] of moments.entries()) {
        const delay = round * 7
        it(`leaves a whole generation ${delay} ms after ${moment}, and the next run completes`, async () => {
          const copy = copyOf(home)
          const { signal } = await replayKilled(copy, comes, delay)
          if (round === 0 && index < 6) expect(signal).toBe("SIGKILL")
          await expectRecovered(copy)
        })
      }
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

    for (const [moment, comes] of [
      ["it stages", appears((home) => fetched(home) > 1)],
      ["it builds", appears(isBuilding)]
    ] as const) {
      it(`tidies up, exits with 130 and is recorded when interrupted while ${moment}`, async () => {
        const copy = copyOf(home)
        const { code, stdout } = await replayKilled(copy, comes, 0, "SIGINT")
        expect(code).toBe(130)
        expect(stdout).toBe("")
        expect(namesIn(path.join(copy, "staging"))).toEqual([])
        expect(warehouse(copy).sort()).toEqual([".publish.lock", "larder-000001.duckdb", "larder.duckdb"])
        expect(journal(copy)).toMatchObject([
          { run: { outcome: "interrupted", message: "interrupted", generation: null } }
        ])
        await expectComplete(copy)
        const [runs] = await query(copy, "select outcome from ingest.run order by started_at")
        expect(runs).toEqual([{ outcome: "published" }, { outcome: "interrupted" }, { outcome: "published" }])
        expect(journal(copy)).toEqual([])
      })
    }
  })
}
