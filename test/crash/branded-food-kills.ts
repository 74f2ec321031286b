/**
 * Kills real runs of branded foods at the moments when files appear, damages the sidecar files of a generation, and runs two
 * pipelines at once. The live generation always stays complete, with its own search, and the next run produces the rows of
 * an undisturbed one. One run is examined at all given moments. `rounds` sets how often a run is killed at each of them, and
 * in an empty home, each time a little later.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { objectName } from "@larder/warehouse/depot/depot.ts"
import { openFoods } from "@larder/warehouse/search/open.ts"
import { Effect, Logger } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  copyForTest,
  copyHome,
  generationOf,
  makeTestFolder,
  newestManifest,
  removeFolder,
  replay,
  runStatus,
  temporaryFolder,
  valuesOf
} from "../end-to-end/ingesting.ts"
import { foodsIn, listLeftovers, load } from "../end-to-end/small-releases.ts"
import { sendOnce } from "../support/api/client.ts"
import { aBlockRow, blocks, bodyOf, everyFeed } from "../support/pipelines/commodity-payloads.ts"
import { goodZip, largeZip } from "../support/pipelines/small-releases.ts"
import { newKey, startServer } from "../support/programs.ts"
import { openLiveFoods } from "../support/warehouse/live-foods.ts"
import {
  appears,
  changes,
  copyAtMoments,
  countUnrecorded,
  digestOf,
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
let releases = ""
let undisturbedDigest: unknown
/** Enough rows for each step to take a while. */
const largeCount = 500
const largeRelease = () => path.join(releases, "large.zip")
const goodRelease = (number: number) => path.join(releases, `good-${number}.zip`)

beforeAll(async () => {
  home = temporaryFolder()
  releases = temporaryFolder()
  writeFileSync(largeRelease(), largeZip(largeCount))
  for (const number of [0, 1, 2, 3]) writeFileSync(goodRelease(number), goodZip(number * 10))
  const { code, stderr } = await load(home, goodRelease(0))
  if (code !== 0) throw new Error(stderr)
  const copy = copyHome(home)
  await load(copy, largeRelease())
  undisturbedDigest = await digestLabels(copy)
  removeFolder(copy)
})
afterAll(() => [home, releases].map(removeFolder))

const digestLabels = (home: string) => digestOf(home, "branded_food.food", "run_id", "fetched_at")
const warehouse = (home: string) => path.join(home, "warehouse")
const partsOf = (home: string) => newestManifest(home).data_sets["branded-foods"]?.parts ?? []
const objectOf = (home: string, name: string) =>
  path.join(warehouse(home), objectName(partsOf(home).find((part) => part.name === name)?.sha256 ?? ""))
/** The folder of a server with the sidecar files of the live database. */
const foodsFolder = (home: string) => path.join(warehouse(home), "beside", partsOf(home)[0]?.sha256 ?? "")

/** Copies the published sidecar files into a folder. */
const copyPublishedFiles = (home: string) => {
  const folder = makeTestFolder()
  for (const { name } of partsOf(home).slice(1)) cpSync(objectOf(home, name), path.join(folder, name))
  return folder
}
const countIn = (folder: string) =>
  Effect.runPromise(Effect.scoped(Effect.map(openFoods(folder), ({ foods }) => foods)))

/** The live database and its search contain the same foods. */
const expectComplete = async (home: string, expected: number) => {
  expect((await foodsIn(home)).length).toBe(expected)
  expect(await countIn(copyPublishedFiles(home))).toBe(expected)
}

const countFoods = "select count(*)::integer as foods from branded_food.food"

const expectRecovered = async (copy: string) => {
  const isPublished = hasManifest(copy, 2)
  const [opened] = await queryFiles(copy, countFoods)
  expect(isPublished ? [3, 3 + largeCount] : [3]).toContain(opened?.[0]?.foods)
  expect(generationOf(copy, "branded-foods")).toBe(isPublished ? "larder-000002" : "larder-000001")
  await runStatus(copy)
  const unrecorded = countUnrecorded(copy, isPublished)
  await expectComplete(copy, isPublished ? 3 + largeCount : 3)
  const { code, stderr } = await load(copy, largeRelease())
  expect(code, stderr).toBe(0)
  await expectComplete(copy, 3 + largeCount)
  expect(await digestLabels(copy)).toBe(undisturbedDigest)
  await expectTidy(copy, isPublished ? 3 : 2 + unrecorded)
}

const countSearchFiles = (home: string) =>
  namesIn(path.join(home, "staging")).flatMap((run) => namesIn(path.join(home, "staging", run, "beside"))).length

/** Moments of a run on a home that has one generation, in their order. */
const moments = {
  "it unpacks": appears((home) => listStaged(home).includes("food.csv")),
  "it stages": appears((home) => listStaged(home).includes("release.duckdb")),
  "it begins to build": appears((home) => listStaged(home).includes("built.duckdb")),
  "it creates the search folder": appears((home) => listStaged(home).includes("beside")),
  "that folder contains some files": appears((home) => countSearchFiles(home) > 4),
  "its database is in the depot": objectsAppear(),
  "some of its sidecar files are in the depot": objectsAppear(4),
  "its manifest appears": appears((home) => hasManifest(home, 2)),
  "the file of its data set changes": changes("branded-foods.duckdb")
} satisfies Readonly<Record<string, Moment>>
type Name = keyof typeof moments
export const everyMoment = Object.keys(moments) as ReadonlyArray<Name>
/** The run may have ended before one of these is detected. */
const lastMoments = everyMoment.slice(5)

/** Runs the large release and kills it at the moment. */
const killRun = (home: string, moment: Moment, delay = 0) =>
  runKilled(home, ["branded-foods", "--file", largeRelease()], moment, { delay })

export const testBrandedFoodKills = (names: ReadonlyArray<Name>, { rounds }: { readonly rounds: number }) => {
  describe("a run of branded foods that is killed with -9", () => {
    let copies: ReadonlyArray<KilledHome> = []
    beforeAll(async () => {
      const stopped = copyHome(home)
      copies = await copyAtMoments(
        stopped,
        ["branded-foods", "--file", largeRelease()],
        names.map((name) => moments[name]),
        countFoods
      )
      removeFolder(stopped)
    })
    afterAll(() => copies.map(({ home }) => removeFolder(home)))

    it.each(names)("leaves a complete generation when %s, and the next run completes", async (name) => {
      const { home: copy = "", seen = [], wasRunning } = copies[names.indexOf(name)] ?? {}
      if (!lastMoments.includes(name)) expect(wasRunning).toBe(true)
      expect([3, 3 + largeCount]).toContain(seen[0]?.foods)
      await expectRecovered(copy)
    })

    for (let round = 0; round < rounds; round++) {
      const delay = round * 7
      it.each(names)(`leaves a complete generation ${delay} ms after %s, and the next run completes`, async (name) => {
        const copy = copyForTest(home)
        await killRun(copy, moments[name], delay)
        await expectRecovered(copy)
      })
      it(`lets the next run create the warehouse of an empty home, ${delay} ms after it created the search folder`, async () => {
        const empty = makeTestFolder()
        await killRun(empty, moments["it creates the search folder"], delay)
        const isPublished = hasManifest(empty, 1)
        const runs = isPublished ? 1 : countUnrecorded(empty, isPublished)
        const { code, stderr } = await load(empty, largeRelease())
        expect(code, stderr).toBe(0)
        await expectComplete(empty, largeCount)
        await expectTidy(empty, runs + 1)
      })
    }
  })

  /** Opens the foods like a server, and returns how many a search finds. */
  const openAndSearch = (home: string) =>
    openLiveFoods(home).pipe(
      Effect.flatMap((foods) => foods.search({ name: "food" }, undefined, 1000)),
      Effect.map(({ records }) => records.length),
      Effect.scoped,
      Effect.provide([NodeServices.layer, Logger.layer([])]), // the server warns about damage done by tests
      Effect.runPromise
    )
  const readContents = (home: string) =>
    readdirSync(foodsFolder(home))
      .sort()
      .map((name) => [name, readFileSync(path.join(foodsFolder(home), name), "base64")])
  const damage = (file: string) => {
    const bytes = readFileSync(file)
    const middle = bytes.length >> 1
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    rmSync(file)
    writeFileSync(file, bytes)
  }

  describe("the search of branded foods when it is opened", () => {
    it("is linked again when a byte of it has changed", async () => {
      const copy = copyForTest(home)
      expect(await openAndSearch(copy)).toBe(3)
      const before = readContents(copy)
      damage(path.join(foodsFolder(copy), "names.texts"))
      await expect(countIn(foodsFolder(copy))).rejects.toThrow()
      expect(await openAndSearch(copy)).toBe(3)
      expect(readContents(copy)).toEqual(before)
      expect(listLeftovers(copy)).toEqual([])
    })

    it("is rebuilt when a byte of the published files has changed", async () => {
      const copy = copyForTest(home)
      expect(await openAndSearch(copy)).toBe(3)
      const before = readContents(copy)
      rmSync(foodsFolder(copy), { recursive: true })
      damage(objectOf(copy, "names.texts"))
      expect(await openAndSearch(copy)).toBe(3)
      expect(readContents(copy)).toEqual(before)
      expect(listLeftovers(copy)).toEqual([])
    })

    it("is rebuilt by a server that starts without its files, and the server logs this", async () => {
      const copy = copyForTest(home)
      for (const { name } of partsOf(copy).slice(1)) rmSync(objectOf(copy, name), { force: true }) // two parts may be the same object
      rmSync(foodsFolder(copy), { recursive: true, force: true })
      mkdirSync(`${foodsFolder(copy)}.building`, { recursive: true }) // left by a killed server
      const { key } = await newKey(copy)
      const server = await startServer(copy)
      try {
        const { json } = await sendOnce(server.api, "/v1/branded-foods?name=food", { key })
        const { data } = json as { readonly data: ReadonlyArray<{ readonly fdc_id: number }> }
        expect(data.map(({ fdc_id }) => fdc_id)).toEqual([1, 2, 3])
        expect(server.logs()).toMatch(/\.\w+ is missing\. .* They are written again from .*objects/)
      } finally {
        await server.stop()
      }
      expect(await countIn(foodsFolder(copy))).toBe(3)
      expect(listLeftovers(copy)).toEqual([])
    })
  })

  describe("branded foods and commodities that run concurrently", () => {
    let published = ""
    beforeAll(() => {
      published = copyHome(home)
    })
    afterAll(() => removeFolder(published))

    it("both publish, and the search belongs to the live generation", async () => {
      for (const round of [1, 2, 3].slice(0, 1 + rounds)) {
        const week = aBlockRow({ "Week Ending Date": `09/0${round}/2026`, cheese_40_Price: `1.6${round}00` })
        const results = await Promise.all([
          load(published, goodRelease(round)),
          replay(published, { ...everyFeed(), [blocks.feed]: bodyOf(blocks, [aBlockRow(), week]) })
        ])
        for (const { code, stderr } of results) expect(code, stderr).toBe(0)
        expect(await valuesOf(published, "cheese_block_sales_price_weekly")).toContain(
          `2026-09-0${round} 1.6${round}00`
        )
        await expectComplete(published, 3 + 3 * round)
        expect(listLeftovers(published)).toEqual([])
      }
    })

    it("have their search linked again when the files of an earlier generation are in its place", async () => {
      const foods = (await foodsIn(published)).length
      expect(await openAndSearch(published)).toBe(foods)
      rmSync(foodsFolder(published), { recursive: true })
      cpSync(copyPublishedFiles(home), foodsFolder(published), { recursive: true })
      expect(await countIn(foodsFolder(published))).not.toBe(foods)
      expect(await openAndSearch(published)).toBe(foods)
      expect(await countIn(foodsFolder(published))).toBe(foods)
    })
  })
}
