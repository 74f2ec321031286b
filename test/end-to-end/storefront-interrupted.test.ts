/**
 * Live runs over shops on this machine that are killed or interrupted in the middle: the next run asks for what is missing, and
 * ends like one that nobody disturbed. Requests keep their real pace of one per second and host. Some 80 s.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Misbehaviour, type Shop, startShop } from "../support/pipelines/store-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { ended, run, start } from "../support/programs.ts"
import { folderOfTest } from "./ingesting.ts"
import { type Listed, outcomesOf, rowsOf } from "./storefronts.ts"

/** A robots.txt that is not there is a refusal, and asked for again. */
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

/** What a home knows of its stores, but for times and runs. */
const knownBy = async (home: string) => ({
  outcomes: await outcomesOf(home),
  reads: await rowsOf(
    home,
    `select domain, r.currency, pages_read, products_read, collections_read
     from storefront.store_read r join storefront.store using (store_id) order by domain`
  ),
  listed: await rowsOf(
    home,
    `select domain, p.title, v.price::double as price, v.currency, v.available
     from storefront.listing join storefront.store using (store_id) join storefront.product p using (product_id)
     join storefront.variant v using (product_id) order by domain, p.title`
  ),
  collections: await rowsOf(home, "select title, product_count from storefront.collection_listing order by title")
})

/** The same with times and runs. */
const allOf = async (home: string) => ({
  known: await knownBy(home),
  reads: await rowsOf(
    home,
    `select r.run_id, domain, r.read_at::varchar as read_at, r.outcome, pages_read, products_read
     from storefront.store_read r join storefront.store using (store_id) order by domain`
  ),
  payloads: await rowsOf(
    home,
    "select url, fetched_at::varchar as fetched_at, raw_sha256 from ingest.raw_file order by url, fetched_at"
  )
})

/** How the runs of a home ended, as their lists of fetches tell, oldest first. */
const endsIn = (home: string): ReadonlyArray<string> => {
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

describe("a run of stores that comes to its end", () => {
  it.live("says how, and the next one asks for everything", () =>
    Effect.gen(function* () {
      const host = yield* startUpstream((response) => response.end(csv))
      const bakery = { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: host.url }
      const [home, folder] = [folderOfTest(), folderOfTest()]
      const list = path.join(folder, "stores.json")
      const ingest = (stores: unknown, ...args: ReadonlyArray<string>) => {
        writeFileSync(list, JSON.stringify(stores))
        const settings = { LARDER_PRIVATE_HOSTS: "127.0.0.1", LARDER_HOME: home }
        return Effect.promise(() => run("larder-ingest", ["storefronts", "--stores", list, ...args], settings))
      }
      const codes = [
        yield* ingest([bakery], "--dry-run"),
        yield* ingest([{ ...bakery, kind: "etsy" }]),
        yield* ingest([bakery]),
        yield* ingest([bakery])
      ].map(({ code }) => code)
      assert.deepStrictEqual(codes, [0, 1, 0, 0])
      assert.deepStrictEqual(endsIn(home), ["dry_run", "failed", "larder-000001", "larder-000002"])
      assert.lengthOf(host.seen, 6) // robots.txt and the export, three times
    }).pipe(Effect.scoped)
  )
})

describe("a run of stores behind one that was", () => {
  it.live.each(["SIGKILL", "SIGINT"] as const)(
    "ended by %s in the middle asks for what is missing, and ends like one that nobody disturbed",
    (signal) =>
      Effect.gen(function* () {
        const reached = Promise.withResolvers<void>()
        let isHeld = true
        const holding: Misbehaviour = ({ page, path }) => {
          if (!isHeld || path !== "/products.json" || page !== 3) return false
          reached.resolve() // and no answer comes
          return true
        }
        const [dairyHost, spiceHost] = [yield* startShop(dairy, holding), yield* startShop(spices)]
        const bakeryHost = yield* startUpstream((response) => response.end(csv))
        const stores: ReadonlyArray<Listed> = [
          { domain: "dairy.example", name: "Dairy", kind: "shopify", location: dairyHost.url },
          { domain: "spices.example", name: "Spices", kind: "woocommerce", location: spiceHost.url },
          { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: `${bakeryHost.url}/export.csv` }
        ]
        const [home, undisturbed, into] = [folderOfTest(), folderOfTest(), folderOfTest()]
        const list = path.join(folderOfTest(), "stores.json")
        writeFileSync(list, JSON.stringify(stores))
        const args = ["storefronts", "--stores", list, "--json"]
        const settings = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
        const hosts = [dairyHost, spiceHost, bakeryHost]
        const asked = () => hosts.map(({ seen }) => seen.map(({ url }) => url))

        const child = start("larder-ingest", args, { ...settings, LARDER_HOME: home })
        const end = ended(child)
        yield* Effect.promise(() => reached.promise)
        child.kill(signal)
        const broken = yield* Effect.promise(() => end)
        assert.isTrue(signal === "SIGKILL" ? broken.signal === signal : broken.code === 130)
        isHeld = false
        const before = asked()

        const next = yield* Effect.promise(() => run("larder-ingest", args, { ...settings, LARDER_HOME: home }))
        assert.strictEqual(next.code, 0, next.stderr)
        const after = asked().map((urls, host) => urls.slice(before[host]?.length))
        const whole = yield* Effect.promise(() => run("larder-ingest", args, { ...settings, LARDER_HOME: undisturbed }))
        assert.strictEqual(whole.code, 0, whole.stderr)
        const all = asked().map((urls, host) => urls.slice((before[host]?.length ?? 0) + (after[host]?.length ?? 0)))
        for (const [host, urls] of all.entries()) {
          const answered = host === 0 ? before[host]?.slice(0, -1) : before[host]
          assert.deepStrictEqual([...(answered ?? []), ...(after[host] ?? [])].sort(), [...urls].sort())
        }
        assert.isAbove(before[0]?.length ?? 0, 3)

        const known = yield* Effect.promise(() => knownBy(home))
        assert.deepStrictEqual(known, yield* Effect.promise(() => knownBy(undisturbed)))
        assert.deepStrictEqual(known.outcomes, {
          "bakery.example": "complete complete",
          "dairy.example": "complete complete",
          "spices.example": "complete complete"
        })
        assert.lengthOf(known.listed, 9)

        for (const { close } of hosts) yield* close
        const rebuilt = yield* Effect.promise(() =>
          run("larder-ingest", ["rebuild", "--into", into], { LARDER_HOME: home })
        )
        assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
        assert.deepStrictEqual(yield* Effect.promise(() => allOf(into)), yield* Effect.promise(() => allOf(home)))
      }).pipe(Effect.scoped)
  )
})
