/**
 * Kills real runs of branded foods at the moments when files appear, damages what lies beside a generation, and runs two
 * pipelines at once. Whatever happens, the live generation is whole and has its own search. One run is looked at in all of its
 * moments; `rounds` says how often a run is killed at each of them, each time a little later.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync
} from "node:fs"
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
import { appears, type Left, leftAt, type Moment, namesIn, runKilled, staged } from "./killed-runs.ts"

let home = ""
let releases = ""
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
})
afterAll(() => [home, releases].map(removeFolder))

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
  expect(leftovers(copy)).toEqual([])
  const folders = namesIn(warehouse(copy)).filter((name) => name.endsWith(".foods"))
  expect(folders.every((name) => existsSync(path.join(warehouse(copy), name.replace(".foods", ""))))).toBe(true)
}

export const brandedFoodKills = ({ rounds }: { readonly rounds: number }) => {
  describe("a run of branded foods that is killed with -9", () => {
    const killed = (home: string, moment: Moment, delay = 0) =>
      runKilled(home, ["branded-foods", "--file", large()], moment, { delay })
    const next = (home: string, end: string) => existsSync(path.join(warehouse(home), `larder-000002.duckdb${end}`))
    const moments: ReadonlyArray<readonly [moment: string, comes: (home: string) => boolean]> = [
      ["it unpacks", (home) => staged(home).includes("food.csv")],
      ["it stages", (home) => staged(home).includes("release.duckdb")],
      ["it begins to build", (home) => next(home, ".building")],
      ["it begins the folder of the search", (home) => next(home, ".building.foods")],
      [
        "that folder holds some files",
        (home) => namesIn(`${warehouse(home)}/larder-000002.duckdb.building.foods`).length > 4
      ],
      ["that folder has its name", (home) => next(home, ".foods")],
      ["the database has its name", (home) => next(home, "")]
    ]
    let left: ReadonlyArray<Left> = []
    beforeAll(async () => {
      const stopped = copyIn(home)
      const args = ["branded-foods", "--file", large()]
      left = await leftAt(
        stopped,
        args,
        moments.map(([, comes]) => appears(comes))
      )
      removeFolder(stopped)
    })
    afterAll(() => left.map(({ home }) => removeFolder(home)))

    it.each(moments.map(([moment], index) => ({ moment, index })))(
      "leaves a whole generation when $moment, and the next run completes",
      async ({ index }) => {
        const { home: copy = "", wasRunning } = left[index] ?? {}
        if (index < 5) expect(wasRunning).toBe(true) // later it may have ended before it was seen
        await expectRecovered(copy)
      }
    )

    for (let round = 0; round < rounds; round++) {
      it.each(moments)(
        `leaves a whole generation when killed ${round * 7} ms after %s, and the next run completes`,
        async (_moment, comes) => {
          const copy = copyOf(home)
          await killed(copy, appears(comes), round * 7)
          await expectRecovered(copy)
        }
      )
    }

    it("lets the next run make the warehouse of a home that was empty", async () => {
      const empty = folderOfTest()
      await killed(
        empty,
        appears((home) => namesIn(warehouse(home)).includes("larder-000001.duckdb.building"))
      )
      const { code, stderr } = await load(empty, large())
      expect(code, stderr).toBe(0)
      await expectWhole(empty, largeCount)
      expect(leftovers(empty)).toEqual([])
    })
  })

  describe("the search of branded foods when it is opened", () => {
    const foodsFolder = (home: string) => `${liveFile(home)}.foods`
    /** As a server does. */
    const opened = (home: string) =>
      Effect.runPromise(
        Effect.gen(function* () {
          const db = yield* DuckDb.readOnly(liveFile(home))
          const foods = yield* foodsOf(yield* layoutOf(home), liveFile(home), db)
          const { records } = yield* foods.search({ name: "food" }, undefined, 10)
          return records.length
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
      )
    const whole = (home: string) => {
      const folder = foodsFolder(home)
      return Object.fromEntries(
        readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), "base64")])
      )
    }
    const names = () => readdirSync(foodsFolder(home))
    const rewrite = (file: string, bytes: Buffer) => {
      rmSync(file)
      writeFileSync(file, bytes)
    }

    const damages: Readonly<Record<string, (file: string) => void>> = {
      missing: (file) => rmSync(file),
      cut: (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
      longer: (file) => rewrite(file, Buffer.concat([readFileSync(file), Buffer.from("x")])),
      changed: (file) => {
        const bytes = readFileSync(file)
        const middle = bytes.length >> 1
        bytes[middle] = (bytes[middle] ?? 0) ^ 1
        rewrite(file, bytes)
      }
    }
    const isEmpty = (file: string) => readFileSync(file).length === 0

    it("refuses each file that is missing, cut, longer, or changed in one byte", async () => {
      const copy = copyOf(home)
      for (const name of names()) {
        const file = path.join(foodsFolder(copy), name)
        const bytes = readFileSync(file)
        for (const [how, damage] of Object.entries(damages)) {
          if (isEmpty(file) && how !== "missing" && how !== "longer") continue // nothing can be cut or changed
          damage(file)
          await expect(searchable(copy), `${name} ${how}`).rejects.toThrow()
          rmSync(file, { force: true })
          writeFileSync(file, bytes)
        }
      }
      expect(await searchable(copy)).toBe(3)
    })

    it("rebuilds a file that is missing, cut, longer, or changed in one byte", async () => {
      const copy = copyOf(home)
      const before = whole(copy)
      const files = names().filter((name) => !isEmpty(path.join(foodsFolder(home), name)))
      for (const [index, [how, damage]] of Object.entries(damages).entries()) {
        const name = files[index] ?? ""
        damage(path.join(foodsFolder(copy), name))
        expect(await opened(copy), `${name} ${how}`).toBe(3)
        expect(whole(copy), `${name} ${how}`).toEqual(before)
      }
      expect(leftovers(copy)).toEqual([])
    })

    it("rebuilds files that belong to another generation", async () => {
      const copy = copyOf(home)
      const old = foodsFolder(copy)
      const { code } = await load(copy, good(1))
      expect(code).toBe(0)
      rmSync(foodsFolder(copy), { recursive: true })
      renameSync(old, foodsFolder(copy))
      expect(await opened(copy)).toBe(6)
      expect(await searchable(copy)).toBe(6)
    })

    it("is rebuilt by a server that starts without its files, and the log says so", async () => {
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
    it("both publish, and the search belongs to the live generation", async () => {
      const copy = copyOf(home)
      for (const round of [1, 2, 3].slice(0, 1 + rounds)) {
        const week = aBlockRow({ "Week Ending Date": `09/0${round}/2026`, cheese_40_Price: `1.6${round}00` })
        const ends = await Promise.all([
          load(copy, good(round)),
          replay(copy, { ...everyFeed(), [blocks.feed]: bodyOf(blocks, [aBlockRow(), week]) })
        ])
        for (const { code, stderr } of ends) expect(code, stderr).toBe(0)
        expect(await valuesOf(copy, "cheese_block_sales_price_weekly")).toContain(`2026-09-0${round} 1.6${round}00`)
        await expectWhole(copy, 3 + 3 * round)
        expect(leftovers(copy)).toEqual([])
      }
    })
  })
}
