/**
 * Live runs over shops on this machine that are killed or interrupted in the middle: the next run requests only what is
 * missing, and gives the same result as an undisturbed run. The killed program sends one request per second and host, so its
 * third page takes about 5 s. All other runs are in the process of the test, without pauses.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type EndedRun, ingestLive } from "../support/pipelines/live-runs.ts"
import { type Misbehaviour, type Shop, startShop } from "../support/pipelines/store-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { type Ended, start, waitForExit } from "../support/programs.ts"
import { makeTestFolder, rebuildFrom, removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Listed, outcomesOf, rowsOf } from "./storefronts.ts"

/** A missing robots.txt would be a refusal, and would be requested again. */
const robots = "User-agent: *\nAllow: /\n"
const dairy: Shop = {
  robots,
  pages: [[1, 2], [3], [4]],
  collections: { cheese: [[3, 1]] },
  meta: { id: 7, name: "Dairy", country: "NO", currency: "USD", published_products_count: 4 },
  headers: { "set-cookie": "cart_currency=NOK; path=/" }
}
const spices: Shop = { robots, pages: [[5, 6], [7]] }
const csv = "Handle,Title,Variant Price\nrye,Rye bread,2.50\nspelt,Spelt bread,3.20\n"

/** Reads the stores of a home, without times and runs. */
const readStores = async (home: string) => ({
  outcomes: await outcomesOf(home),
  reads: await rowsOf(
    home,
    `select domain, r.currency, pages_read, products_read, collections_read
     from ingest.store_read r join storefront.store using (store_id) order by domain`
  ),
  listed: await rowsOf(
    home,
    `select domain, p.title, v.price::double as price, v.currency, v.available
     from storefront.listing join storefront.store using (store_id) join storefront.product p using (product_id)
     join storefront.variant v using (product_id) order by domain, p.title`
  ),
  collections: await rowsOf(home, "select title, product_count from storefront.collection_listing order by title")
})

/** Reads the stores of a home with times and runs. */
const readEverything = async (home: string) => ({
  known: await readStores(home),
  reads: await rowsOf(
    home,
    `select r.run_id, domain, r.read_at::varchar as read_at, r.outcome, pages_read, products_read
     from ingest.store_read r join storefront.store using (store_id) order by domain`
  ),
  payloads: await rowsOf(
    home,
    "select url, fetched_at::varchar as fetched_at, raw_sha256 from ingest.live_raw_file order by url, fetched_at"
  )
})

/** Reads from the lists of fetches how the runs of a home ended, oldest first. */
const readEnds = (home: string): ReadonlyArray<string> => {
  const lists = path.join(home, "raw/fetches")
  return readdirSync(lists)
    .sort()
    .map((name) => {
      const { ended, published } = JSON.parse(
        readFileSync(path.join(lists, name), "utf8").trim().split("\n").at(-1) ?? ""
      )
      return ended ?? published
    })
}

const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }

describe("a run of stores that ends", () => {
  it.live("records how it ended, and the next run requests everything again", () =>
    Effect.gen(function* () {
      const host = yield* startUpstream((response) => response.end(csv))
      const bakery = { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: host.url }
      const [home, folder] = [makeTestFolder(), makeTestFolder()]
      const list = path.join(folder, "stores.json")
      const ingest = (stores: unknown, dryRun = false) => {
        writeFileSync(list, JSON.stringify(stores))
        return Effect.promise(() => ingestLive(storefronts, { home, stores: list, dryRun, environment }))
      }
      const runs = [
        yield* ingest([bakery], true),
        yield* ingest([{ ...bakery, kind: "etsy" }]),
        yield* ingest([bakery])
      ].map(({ run }) => run?.outcome)
      assert.deepStrictEqual(runs, ["published", undefined, "published"])
      assert.deepStrictEqual(readEnds(home), ["failed", "larder-000002"])
      assert.lengthOf(host.requests, 4) // robots.txt and the export, twice
    }).pipe(Effect.scoped)
  )
})

describe("a run of stores after runs that were stopped in the middle", () => {
  const [undisturbed, folder] = [temporaryFolder(), temporaryFolder()]
  const home = path.join(folder, "home")
  const ends: Array<Ended> = []
  let last: EndedRun
  /** Addresses requested from each host by the killed run, the interrupted run and the last run. */
  const parts: Array<ReadonlyArray<ReadonlyArray<string>>> = []
  let allRequests: ReadonlyArray<ReadonlyArray<string>> = []

  beforeAll(() =>
    Effect.gen(function* () {
      let reached = Promise.withResolvers<void>()
      let isBlocking = false
      const blockThirdPage: Misbehaviour = ({ page, path }) => {
        if (!isBlocking || path !== "/products.json" || page !== 3) return false
        reached.resolve() // and never responds
        return true
      }
      const hosts = [
        yield* startShop(dairy, blockThirdPage),
        yield* startShop(spices),
        yield* startUpstream((response) => response.end(csv))
      ] as const
      const [dairyHost, spiceHost, bakeryHost] = hosts
      const stores: ReadonlyArray<Listed> = [
        { domain: "dairy.example", name: "Dairy", kind: "shopify", location: dairyHost.url },
        { domain: "spices.example", name: "Spices", kind: "woocommerce", location: spiceHost.url },
        { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: `${bakeryHost.url}/export.csv` }
      ]
      const list = path.join(folder, "stores.json")
      writeFileSync(list, JSON.stringify(stores))
      const counts = hosts.map(() => 0)
      /** Returns the addresses requested since the last call. */
      const takeRequests = () =>
        hosts.map(({ requests }, host) => {
          const from = counts[host]
          counts[host] = requests.length
          return requests.slice(from).map(({ url }) => url)
        })
      const ingest = (home: string) =>
        Effect.promise(() => ingestLive(storefronts, { home, stores: list, environment }))

      const undisturbedRun = yield* ingest(undisturbed)
      assert.strictEqual(undisturbedRun.run?.outcome, "published", undisturbedRun.problem)
      allRequests = takeRequests()
      isBlocking = true
      for (const signal of ["SIGKILL", "SIGINT"] as const) {
        reached = Promise.withResolvers()
        const child = start("larder-ingest", ["storefronts", "--stores", list], { ...environment, LARDER_HOME: home })
        const end = waitForExit(child)
        yield* Effect.promise(() => reached.promise)
        child.kill(signal)
        ends.push(yield* Effect.promise(() => end))
        parts.push(takeRequests())
      }
      isBlocking = false
      last = yield* ingest(home)
      parts.push(takeRequests())
    }).pipe(Effect.scoped, Effect.runPromise)
  )
  afterAll(() => [undisturbed, folder].forEach(removeFolder))

  it("follows one that was ended by SIGKILL, and one that exited with 130 after SIGINT", () => {
    assert.strictEqual(ends[0]?.signal, "SIGKILL")
    assert.strictEqual(ends[1]?.code, 130)
  })

  it("requests only what is missing, like the run after SIGKILL", () => {
    assert.isAbove(parts[0]?.[0]?.length ?? 0, 3)
    for (const [host, urls] of allRequests.entries()) {
      const [killed = [], interrupted = [], rest = []] = parts.map((part) => part[host] ?? [])
      const completed = host === 0 ? [killed.slice(0, -1), interrupted.slice(0, -1)] : [killed, interrupted]
      assert.deepStrictEqual([...completed.flat(), ...rest].sort(), [...urls].sort())
    }
  })

  it("ends with the same data as an undisturbed run", async () => {
    assert.strictEqual(last.run?.outcome, "published", last.problem)
    const known = await readStores(home)
    assert.deepStrictEqual(known, await readStores(undisturbed))
    assert.deepStrictEqual(known.outcomes, {
      "bakery.example": "complete complete",
      "dairy.example": "complete complete",
      "spices.example": "complete complete"
    })
    assert.lengthOf(known.listed, 9)
  })

  it("can be rebuilt from the archive, with what the stopped runs had fetched", async () => {
    assert.deepStrictEqual(await readEverything(await rebuildFrom(home)), await readEverything(home))
  })
})
