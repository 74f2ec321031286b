/**
 * Kills real runs of branded foods at the moments when files appear, damages what lies beside a generation, and runs two
 * pipelines at once. Whatever happens, the live generation is whole and has its own search. One run is looked at in all of the
 * given moments, and the next run ends with the rows of an undisturbed one; `rounds` says how often a run is killed at each of them, and in an empty home, each time a little later.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { foodsOf } from "@larder/warehouse/foods/of-generation.ts"
import { openFoods } from "@larder/warehouse/foods/open.ts"
import { layoutOf } from "@larder/warehouse/generation/layout.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  copyIn,
  copyOf,
  folderOfTest,
  generationOf,
  removeFolder,
  replay,
  temporaryFolder,
  valuesOf
} from "../end-to-end/ingesting.ts"
import { foodsIn, goodZip, largeZip, leftovers, load } from "../end-to-end/small-releases.ts"
import { ask } from "../support/api/client.ts"
import { aBlockRow, blocks, bodyOf, everyFeed } from "../support/pipelines/commodity-payloads.ts"
import { newKey, startServer } from "../support/programs.ts"
import { appears, digestOf, type Left, leftAt, type Moment, namesIn, runKilled, staged } from "./killed-runs.ts"

let home = ""
let releases = ""
let undisturbed: unknown
/** Enough for each step to take a while. */
const largeCount = 500
const large = () => path.join(releases, "large.zip")
const good = (number: number) => path.join(releases, `good-${number}.zip`)

beforeAll(async () => {
  home = temporaryFolder()
  releases = temporaryFolder()
  writeFileSync(large(), largeZip(largeCount))
  for (const number of [0, 1, 2, 3]) writeFileSync(good(number), goodZip(number * 10))
  const { code, stderr } = await load(home, good(0))
  if (code !== 0) throw new Error(stderr)
  const copy = copyIn(home)
  await load(copy, large())
  undisturbed = await labels(copy)
  removeFolder(copy)
})
afterAll(() => [home, releases].map(removeFolder))

const labels = (home: string) => digestOf(home, "branded_food.food", "run_id", "fetched_at")
const warehouse = (home: string) => path.join(home, "warehouse")
const liveFile = (home: string) => path.join(warehouse(home), generationOf(home))

/** What the search of the live generation holds, without making anything again. */
const searchable = (home: string) =>
  Effect.runPromise(Effect.scoped(Effect.map(openFoods(`${liveFile(home)}.foods`), ({ foods }) => foods)))

/** Database and search of the live generation tell of the same foods. */
const expectWhole = async (home: string, expected: number) => {
  expect((await foodsIn(home)).length).toBe(expected)
  expect(await searchable(home)).toBe(expected)
}

const expectRecovered = async (copy: string) => {
  const isOld = generationOf(copy) === "larder-000001.duckdb"
  await expectWhole(copy, isOld ? 3 : 3 + largeCount)
  const { code, stderr } = await load(copy, large())
  expect(code, stderr).toBe(0)
  await expectWhole(copy, 3 + largeCount)
  expect(await labels(copy)).toBe(undisturbed)
  expect(leftovers(copy)).toEqual([])
  const folders = namesIn(warehouse(copy)).filter((name) => name.endsWith(".foods"))
  expect(folders.every((name) => existsSync(path.join(warehouse(copy), name.replace(".foods", ""))))).toBe(true)
}

const next = (home: string, end: string) => existsSync(path.join(warehouse(home), `larder-000002.duckdb${end}`))
const inSearch = (home: string) => namesIn(`${warehouse(home)}/larder.duckdb.building.foods`).length

/** Moments of a run on a home that has one generation, in their order. */
const moments = {
  "it unpacks": appears((home) => staged(home).includes("food.csv")),
  "it stages": appears((home) => staged(home).includes("release.duckdb")),
  "it begins to build": appears((home) => existsSync(path.join(warehouse(home), "larder.duckdb.building"))),
  "it begins the folder of the search": appears((home) =>
    existsSync(path.join(warehouse(home), "larder.duckdb.building.foods"))
  ),
  "that folder holds some files": appears((home) => inSearch(home) > 4),
  "that folder has its name": appears((home) => next(home, ".foods")),
  "the database has its name": appears((home) => next(home, ""))
} satisfies Readonly<Record<string, Moment>>
type Name = keyof typeof moments
export const everyMoment = Object.keys(moments) as ReadonlyArray<Name>
/** The last moments: the run may be over before one is seen. */
const mayHaveEnded = everyMoment.slice(5)

/** Runs the large release and kills it when the moment has come. */
const killed = (home: string, moment: Moment, delay = 0) =>
  runKilled(home, ["branded-foods", "--file", large()], moment, { delay })

export const brandedFoodKills = (names: ReadonlyArray<Name>, rounds: number) => {
  describe("a run of branded foods that is killed with -9", () => {
    let left: ReadonlyArray<Left> = []
    beforeAll(async () => {
      const stopped = copyIn(home)
      left = await leftAt(
        stopped,
        ["branded-foods", "--file", large()],
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
        await killed(copy, moments[name], delay)
        await expectRecovered(copy)
      })
      it(`lets the next run make the warehouse of a home that was empty, ${delay} ms after it began to build`, async () => {
        const empty = folderOfTest()
        await killed(
          empty,
          appears((home) => namesIn(warehouse(home)).includes("larder.duckdb.building")),
          delay
        )
        const { code, stderr } = await load(empty, large())
        expect(code, stderr).toBe(0)
        await expectWhole(empty, largeCount)
        expect(leftovers(empty)).toEqual([])
      })
    }
  })

  const foodsFolder = (home: string) => `${liveFile(home)}.foods`
  /** As a server does. */
  const opened = (home: string) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const db = yield* DuckDb.readOnly(liveFile(home))
        const foods = yield* foodsOf(yield* layoutOf(home), liveFile(home), db)
        const { records } = yield* foods.search({ name: "food" }, undefined, 1000)
        return records.length
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

  describe("the search of branded foods when it is opened", () => {
    it("is made again when a byte of it has changed", async () => {
      const copy = copyOf(home)
      const contents = () =>
        readdirSync(foodsFolder(copy)).map((name) => [name, readFileSync(path.join(foodsFolder(copy), name), "base64")])
      const before = contents()
      const file = path.join(foodsFolder(copy), "names.texts")
      const bytes = readFileSync(file)
      const middle = bytes.length >> 1
      bytes[middle] = (bytes[middle] ?? 0) ^ 1
      rmSync(file)
      writeFileSync(file, bytes)
      await expect(searchable(copy)).rejects.toThrow()
      expect(await opened(copy)).toBe(3)
      expect(contents()).toEqual(before)
      expect(leftovers(copy)).toEqual([])
    })

    it("is made again by a server that starts without its files, and the log says so", async () => {
      const copy = copyOf(home)
      rmSync(foodsFolder(copy), { recursive: true })
      mkdirSync(`${foodsFolder(copy)}.building`) // of a server that was killed
      const { key } = await newKey(copy)
      const server = await startServer(copy)
      try {
        const { json } = await ask(server.api, "/v1/branded-foods?name=food", { key })
        const { data } = json as { readonly data: ReadonlyArray<{ readonly fdc_id: number }> }
        expect(data.map(({ fdc_id }) => fdc_id)).toEqual([1, 2, 3])
        expect(server.logs()).toMatch(
          /manifest\.json cannot be read .* They are made again from .*larder-000001\.duckdb/
        )
      } finally {
        await server.stop()
      }
      expect(await searchable(copy)).toBe(3)
      expect(leftovers(copy)).toEqual([])
    })
  })

  describe("branded foods and commodities that run at once", () => {
    let published = ""
    beforeAll(() => {
      published = copyIn(home)
    })
    afterAll(() => removeFolder(published))

    it("both publish, and the search belongs to the live generation", async () => {
      for (const round of [1, 2, 3].slice(0, 1 + rounds)) {
        const week = aBlockRow({ "Week Ending Date": `09/0${round}/2026`, cheese_40_Price: `1.6${round}00` })
        const ends = await Promise.all([
          load(published, good(round)),
          replay(published, { ...everyFeed(), [blocks.feed]: bodyOf(blocks, [aBlockRow(), week]) })
        ])
        for (const { code, stderr } of ends) expect(code, stderr).toBe(0)
        expect(await valuesOf(published, "cheese_block_sales_price_weekly")).toContain(
          `2026-09-0${round} 1.6${round}00`
        )
        await expectWhole(published, 3 + 3 * round)
        expect(leftovers(published)).toEqual([])
      }
    })

    it("have their search made again when the files of an earlier generation are in its place", async () => {
      rmSync(foodsFolder(published), { recursive: true })
      cpSync(foodsFolder(home), foodsFolder(published), { recursive: true })
      const foods = (await foodsIn(published)).length
      expect(await searchable(published)).not.toBe(foods)
      expect(await opened(published)).toBe(foods)
      expect(await searchable(published)).toBe(foods)
    })
  })
}
