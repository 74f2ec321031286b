/**
 * Kills real runs of stores at the moments when files appear. The live generation always stays complete, a server continues
 * with it, and the next run produces the rows and history of an undisturbed one. One run is examined at all given moments.
 * `rounds` sets how often a run is killed at each of them, each time a little later.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  copyForTest,
  copyHome,
  generationOf,
  query,
  removeFolder,
  runStatus,
  temporaryFolder
} from "../end-to-end/ingesting.ts"
import { replayStores, rowsOf, writeFiles } from "../end-to-end/storefronts.ts"
import { sendOnce } from "../support/api/client.ts"
import { newKey, startServer } from "../support/programs.ts"
import {
  appears,
  changes,
  copyAtMoments,
  countUnrecorded,
  expectTidy,
  hasManifest,
  type KilledHome,
  listStaged,
  type Moment,
  objectsAppear,
  queryFiles,
  runKilled
} from "./killed-runs.ts"

/** Enough rows for each step to take a while. */
const rowCount = 2_000
const header = "Handle,Title,Option1 Value,Variant Price"
const bakery = (price: string) => `${header}\nrye,Rye bread,S,${price}\nrye,,L,4.50\nspelt,Spelt bread,,3.20\n`
const spices = [header, ...Array.from({ length: rowCount }, (_, n) => `spice-${n},Spice ${n},,${n % 50}.90`)].join("\n")
const store = (name: string) => ({
  domain: `${name}.example`,
  name,
  kind: "shopify-csv",
  location: `${name}.csv`,
  currency: "EUR"
})

/** Everything that a run stores, except its times and its id. */
const contentQueries = [
  "select * exclude (fetched_at, run_id) from storefront.product order by product_id",
  "select * exclude (first_seen_at, run_id) from storefront.store order by store_id",
  "select kind, id, store_id, is_listed from storefront.sighting order by all",
  "select * exclude (seen_at) from storefront.variant_change order by all",
  "select store_id, place, product_id from storefront.listing order by all"
]

let home = ""
let undisturbedContents: ReadonlyArray<unknown> = []
let firstRecordings = ""
let secondRecordings = ""

beforeAll(async () => {
  home = temporaryFolder()
  firstRecordings = writeFiles(temporaryFolder(), { "stores.json": [store("bakery")], "bakery.csv": bakery("2.50") })
  secondRecordings = writeFiles(temporaryFolder(), {
    "stores.json": [store("bakery"), store("spices")],
    "bakery.csv": bakery("2.75"),
    "spices.csv": spices
  })
  const copy = copyHome(home)
  for (const [folder, recordings] of [
    [home, firstRecordings],
    [copy, firstRecordings],
    [copy, secondRecordings]
  ] as const) {
    const { code, stderr } = await replayStores(folder, recordings)
    if (code !== 0) throw new Error(stderr)
  }
  undisturbedContents = await query(copy, ...contentQueries)
  removeFolder(copy)
})
afterAll(() => [home, firstRecordings, secondRecordings].map(removeFolder))

const summary = `
  select (select count(*) from storefront.product)::integer as products,
    (select count(*) from storefront.listing)::integer as listed,
    (select count(*) from storefront.sighting where is_listed)::integer as seen,
    (select count(*) from storefront.variant_change where change = 'first_seen')::integer as first_seen,
    (select string_agg(change || ' ' || price::double, ', ') from storefront.variant_change
      where change <> 'first_seen') as changes`

const old = { products: 2, listed: 2, seen: 2, first_seen: 3, changes: null }
const complete = {
  products: 2 + rowCount,
  listed: 2 + rowCount,
  seen: 2 + rowCount,
  first_seen: 3 + rowCount,
  changes: "changed 2.75"
}

/** Moments of a run on a home that has one generation, in their order. */
const moments = {
  "it begins to stage": appears((home) => listStaged(home).includes("feed.duckdb")),
  "its rows are loaded": appears((home) => listStaged(home).includes("variant.ndjson")),
  "products get their categories": appears((home) => listStaged(home).includes("category.ndjson")),
  "it begins to build": appears((home) => listStaged(home).includes("built.duckdb")),
  "its database is in the depot": objectsAppear(),
  "its manifest appears": appears((home) => hasManifest(home, 2)),
  "ingestion.duckdb changes": changes("ingestion.duckdb")
} satisfies Readonly<Record<string, Moment>>
type Name = keyof typeof moments
export const everyMoment = Object.keys(moments) as ReadonlyArray<Name>
/** The run may have ended before one of these is detected. */
const lastMoments = everyMoment.slice(4)

/** Runs the second read and kills it at the moment. */
const killRun = (home: string, moment: Moment, delay = 0) =>
  runKilled(home, ["storefronts", "--replay", secondRecordings], moment, { delay })

const expectRecovered = async (copy: string) => {
  const isPublished = hasManifest(copy, 2)
  const [opened] = await queryFiles(copy, summary)
  expect(isPublished ? [old, complete] : [old]).toContainEqual(opened?.[0])
  expect(generationOf(copy, "storefronts")).toBe(isPublished ? "larder-000002" : "larder-000001")
  await runStatus(copy)
  const unrecorded = countUnrecorded(copy, isPublished)
  expect(await rowsOf(copy, summary)).toEqual([isPublished ? complete : old])
  const { code, stderr } = await replayStores(copy, secondRecordings)
  expect(code, stderr).toBe(0)
  expect(await rowsOf(copy, summary)).toEqual([complete])
  expect(await query(copy, ...contentQueries)).toEqual(undisturbedContents)
  await expectTidy(copy, isPublished ? 3 : 2 + unrecorded)
}

export const testStorefrontKills = (names: ReadonlyArray<Name>, { rounds }: { readonly rounds: number }) =>
  describe("a run of stores that is killed with -9", () => {
    let copies: ReadonlyArray<KilledHome> = []
    beforeAll(async () => {
      const stopped = copyHome(home)
      copies = await copyAtMoments(
        stopped,
        ["storefronts", "--replay", secondRecordings],
        names.map((name) => moments[name]),
        summary
      )
      removeFolder(stopped)
    })
    afterAll(() => copies.map(({ home }) => removeFolder(home)))

    it.each(names)("leaves a complete generation when %s, and the next run completes", async (name) => {
      const { home: copy = "", seen = [], wasRunning } = copies[names.indexOf(name)] ?? {}
      if (!lastMoments.includes(name)) expect(wasRunning).toBe(true)
      expect([old, complete]).toContainEqual(seen[0])
      await expectRecovered(copy)
    })

    for (let round = 0; round < rounds; round++) {
      const delay = round * 7
      it.each(names)(`leaves a complete generation ${delay} ms after %s, and the next run completes`, async (name) => {
        const copy = copyForTest(home)
        await killRun(copy, moments[name], delay)
        await expectRecovered(copy)
      })
    }

    it("does not disturb a server, which serves the old generation and then the one of the next run", async () => {
      const copy = copyForTest(home)
      const { key } = await newKey(copy)
      const [rye] = await rowsOf(copy, "select product_id from storefront.product where native_id = 'rye'")
      const server = await startServer(copy)
      const priceOf = async () => {
        const { json, status } = await sendOnce(server.api, `/v1/products/${rye?.product_id}`, { key })
        const { data } = json as { readonly data: { readonly price: { readonly min: number } } }
        return [status, data.price.min]
      }
      try {
        const { signal } = await killRun(copy, moments["it begins to build"])
        expect(signal).toBe("SIGKILL")
        expect(generationOf(copy, "storefronts")).toBe("larder-000001")
        expect(await priceOf()).toEqual([200, 2.5])
        await expectRecovered(copy)
        await expect.poll(priceOf, { interval: 1000 }).toEqual([200, 2.75])
      } finally {
        await server.stop()
      }
    })
  })
