/**
 * Live runs over shops on this machine and files beside them, by the program itself: what the operator allows is read, nothing
 * else is. Requests keep their real pace of one per second and host. Some 40 s.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Misbehaviour, type Shop, startShop } from "../support/pipelines/store-host.ts"
import { type Environment, run } from "../support/programs.ts"
import { folderOfTest, generationOf, recordOf } from "./ingesting.ts"
import { ingestStores, type Listed, outcomesOf, rowsOf, writeFiles } from "./storefronts.ts"

const csv = "Handle,Title,Variant Price\nrye,Rye bread,2.50\nspelt,Spelt bread,3.20\n"

const bakery = {
  domain: "bakery.example",
  name: "Bakery",
  kind: "shopify-csv",
  location: "bakery/export.csv",
  currency: "GBP"
} as const

/** A folder with the list of stores and one with their files, and a home. */
const setUp = (stores: unknown, files: Readonly<Record<string, string>> = { "bakery/export.csv": csv }) => {
  const [folder, home] = [folderOfTest(), folderOfTest()]
  const list = path.join(folder, "list.json")
  writeFileSync(list, typeof stores === "string" ? stores : JSON.stringify(stores))
  const storeFiles = path.join(folder, "files")
  mkdirSync(storeFiles)
  writeFiles(storeFiles, files)
  const ingest = (environment: Environment = {}) =>
    ingestStores(home, [], {
      LARDER_SOURCES: "live",
      LARDER_STORES: list,
      LARDER_STORE_FILES: storeFiles,
      ...environment
    })
  return { folder, home, list, storeFiles, ingest }
}

const failedReads = (home: string) =>
  rowsOf(
    home,
    `select domain, r.outcome, r.outcome_detail from storefront.store_read r join storefront.store using (store_id)
     where r.fetch_status = 'failed' order by domain`
  )

describe("a live run of stores", () => {
  it("without a list reads nothing, says so, and is no failure", async () => {
    const home = folderOfTest()
    const { code, stderr, stdout } = await ingestStores(home, [], { LARDER_SOURCES: "live" })
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "LARDER_STORES names no list of stores")
    assert.deepInclude(recordOf({ stdout }), { outcome: "unchanged", rows_read: 0, generation: null })
  })

  it.each([
    [
      "with faults tells all of them",
      [{ ...bakery, kind: "etsy" }, bakery, { ...bakery, currency: "£" }, bakery],
      [/Store 1: .*kind/, /Store 3: .*currency/, /bakery\.example stands twice/]
    ],
    ["that is no JSON says so", "[{", [/no JSON/]],
    ["that is empty says so", [], [/lists no store/]]
  ] as const)("and a list %s, and ends with 1 before anything is fetched", async (_, stores, expected) => {
    const { home, ingest } = setUp(stores)
    const { code, stderr } = await ingest()
    assert.strictEqual(code, 1)
    for (const fault of expected) assert.match(stderr, fault)
    assert.isFalse(readdirSync(home).includes("warehouse") && readdirSync(path.join(home, "warehouse")).length > 0)
  })

  it("and a list that is not there ends with 1 and says which file that is", async () => {
    const { folder, ingest } = setUp([bakery])
    const { code, stderr } = await ingest({ LARDER_STORES: path.join(folder, "missing.json") })
    assert.strictEqual(code, 1)
    assert.match(stderr, /The store list .* cannot be used\. It cannot be read: ENOENT.*missing\.json/)
  })

  it("reads paths of the folder of store files, and never what lies outside of it", async () => {
    const secret = "Handle,Title,Variant Price\nsecret,A secret of this machine,1\n"
    const outside = (n: number, location: string): Listed => ({ ...bakery, domain: `outside-${n}.example`, location })
    const { folder, home, ingest, storeFiles } = setUp([
      bakery,
      outside(1, "../secret.csv"),
      outside(2, "bakery/../../secret.csv"),
      outside(3, "link.csv"),
      outside(4, "linked/secret.csv"),
      outside(5, "/etc/hostname"),
      outside(6, "file:///etc/hostname"),
      outside(7, "..\\secret.csv"),
      outside(8, "%2e%2e/secret.csv"),
      outside(9, "missing.csv"),
      outside(10, "bakery")
    ])
    writeFileSync(path.join(folder, "secret.csv"), secret)
    symlinkSync(path.join(folder, "secret.csv"), path.join(storeFiles, "link.csv"))
    symlinkSync(folder, path.join(storeFiles, "linked"))
    const { code, stderr } = await ingest()
    assert.strictEqual(code, 0, stderr)
    assert.lengthOf(await failedReads(home), 10)
    assert.deepStrictEqual(
      await rowsOf(home, "select distinct domain from storefront.product join storefront.store using (store_id)"),
      [{ domain: "bakery.example" }]
    )
    const archived = readdirSync(path.join(home, "raw"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "utf8"))
    assert.deepStrictEqual(
      archived.filter((text) => text.includes("A secret of this machine")),
      []
    )
  })

  it("without a folder of store files reads no path, and all stores that fail are a failure that is kept", async () => {
    const { home, list } = setUp([bakery, { ...bakery, domain: "other.example" }])
    const { code, stderr } = await ingestStores(home, [], { LARDER_SOURCES: "live", LARDER_STORES: list })
    assert.strictEqual(code, 1)
    assert.match(stderr, /2 feeds of storefronts could not be read[\s\S]*bakery\.example: .*LARDER_STORE_FILES/)
    assert.deepStrictEqual(
      (await failedReads(home)).map(({ domain, outcome }) => [domain, outcome]),
      [
        ["bakery.example", "not_found"],
        ["other.example", "not_found"]
      ]
    )
  })

  it("of which one store fails is none", async () => {
    const other = { ...bakery, domain: "other.example", location: "other.csv" }
    const { home, ingest, list, storeFiles } = setUp([bakery, other])
    const { code, stderr, stdout } = await ingest()
    assert.strictEqual(code, 0, stderr)
    assert.deepInclude(recordOf({ stdout }), { outcome: "published", rows_read: 2, rows_loaded: 2, message: null })
    assert.match(stderr, /the read of other\.example was failed/)
    assert.deepStrictEqual(await outcomesOf(home), {
      "bakery.example": "complete complete",
      "other.example": "failed not_found"
    })
    const first = generationOf(home)
    writeFiles(storeFiles, { "other.csv": "<!DOCTYPE html><html><title>Log in</title></html>" })
    const again = await ingest()
    assert.strictEqual(again.code, 0, again.stderr)
    assert.notStrictEqual(generationOf(home), first)
    assert.strictEqual((await outcomesOf(home))["other.example"], "failed html")
    writeFiles(storeFiles, { "other.csv": "Handle,Title,Variant Price\noat,Oat bread,1.10\n" })
    writeFileSync(list, JSON.stringify([other]))
    const alone = await ingest()
    assert.strictEqual(alone.code, 0, alone.stderr)
    const listed =
      "select domain, count(*)::integer as n from storefront.listing join storefront.store using (store_id) group by all order by all"
    assert.deepStrictEqual(await rowsOf(home, listed), [
      { domain: "bakery.example", n: 2 }, // a store that is in the list no longer keeps its rows
      { domain: "other.example", n: 1 }
    ])
  })

  it("accounts for every row of an export, whatever is wrong with it", async () => {
    const messy = `Handle,Title,Option1 Value,Variant Price,Status,Image Src
good,Good,S,1.00,active,https://cdn.example/1.jpg
good,,S,2.00,,
draft,Draft,S,3.00,draft,
draft,,S,4.00,,
nameless,,S,5.00,,
nameless,,S,6.00,,
picture,,,,,https://cdn.example/2.jpg
,No handle,S,7.00,active,
free,Free,S,free,active,
good,,M,8.00,,
`
    const { home, ingest } = setUp([bakery], { "bakery/export.csv": messy })
    const { code, stderr, stdout } = await ingest()
    assert.strictEqual(code, 0, stderr)
    assert.deepInclude(recordOf({ stdout }), { rows_read: 10, rows_loaded: 2, rows_unchanged: 2, rows_rejected: 6 })
    assert.deepStrictEqual(
      (await rowsOf(home, "select position::integer as line, reason from ingest.reject order by line, reason")).map(
        ({ line, reason }) => `${line}: ${reason}`
      ),
      [
        "0: no row says what picture is called; rows: 1",
        "3: the id good/S stands in an earlier row, too",
        "6: no row says what nameless is called; rows: 2",
        "9: it has no handle",
        '10: its price is "free", which is no price'
      ]
    )
  })
})

describe("a live run over shops of this machine", () => {
  const shop: Shop = {
    pages: [[1, 2], [3]],
    collections: { cheese: [[3, 1]] },
    meta: { id: 7, name: "Dairy", country: "NO", currency: "USD", published_products_count: 3 },
    headers: { "set-cookie": "cart_currency=NOK; path=/" }
  }
  const at = (n: number, url: string, kind: Listed["kind"] = "shopify"): Listed => ({
    domain: `shop-${n}.example`,
    name: `Shop ${n}`,
    kind,
    location: url
  })

  it.live("asks none of them unless the operator names the host", () =>
    Effect.gen(function* () {
      const upstream = yield* startShop(shop)
      const { home, ingest } = setUp([at(1, upstream.url), bakery])
      const { code, stderr } = yield* Effect.promise(() => ingest())
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(upstream.seen, [])
      const [failed] = yield* Effect.promise(() => failedReads(home))
      assert.strictEqual(failed?.outcome, "private_address")
      assert.match(String(failed?.outcome_detail), /LARDER_PRIVATE_HOSTS/)
    })
  )

  it.live(
    "reads them politely; a later run that is refused keeps their rows, and a rebuild tells the same of both",
    () =>
      Effect.gen(function* () {
        let isClosed = false
        const refusing: Misbehaviour = ({ path, response }) => {
          if (!isClosed || path === "/robots.txt") return false
          response.writeHead(403).end("<html><title>Attention Required!</title></html>")
          return true
        }
        const open = yield* startShop(shop, refusing)
        const forbidding = yield* startShop({ pages: [[1]], robots: "User-agent: *\nDisallow: /" })
        const woo = yield* startShop({ pages: [[5, 6]] })
        const { home, ingest } = setUp([at(1, open.url), at(2, forbidding.url), at(3, woo.url, "woocommerce"), bakery])
        const allowed = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
        const first = yield* Effect.promise(() => ingest(allowed))
        assert.strictEqual(first.code, 0, first.stderr)
        assert.deepStrictEqual(
          forbidding.seen.map(({ url }) => url),
          ["/robots.txt"]
        )
        assert.deepStrictEqual([open.load.most, woo.load.most], [1, 1])
        assert.include(open.seen.map(({ url }) => url).join(" "), "country=NO")
        assert.isTrue(open.seen.every(({ headers }) => /^Larder\//.test(headers["user-agent"] ?? "")))
        const sold = `
        select domain, store.currency, count(*)::integer as products, min(v.currency) as prices, sum(v.price)::double as price
        from storefront.listing join storefront.store using (store_id)
        join storefront.variant v using (product_id) group by all order by domain`
        const rows = yield* Effect.promise(() => rowsOf(home, sold))
        assert.deepStrictEqual(rows, [
          { domain: "bakery.example", currency: "GBP", products: 2, prices: "GBP", price: 5.7 },
          { domain: "shop-1.example", currency: "NOK", products: 3, prices: "NOK", price: 28.5 },
          { domain: "shop-3.example", currency: "EUR", products: 2, prices: "EUR", price: 19 }
        ])
        const outcomes = {
          "bakery.example": "complete complete",
          "shop-1.example": "complete complete",
          "shop-2.example": "failed forbidden",
          "shop-3.example": "complete complete"
        }
        assert.deepStrictEqual(yield* Effect.promise(() => outcomesOf(home)), outcomes)
        assert.deepStrictEqual(
          yield* Effect.promise(() => rowsOf(home, "select title, product_count from storefront.collection_listing")),
          [{ title: "cheese", product_count: 2 }]
        )

        isClosed = true
        const state = `
        select fetched_at::varchar as fetched_at, currency, country,
          (select count(*) from storefront.variant_change)::integer as changes
        from storefront.store where domain = 'shop-1.example'`
        const before = yield* Effect.promise(() => rowsOf(home, state))
        const second = yield* Effect.promise(() => ingest(allowed))
        assert.strictEqual(second.code, 0, second.stderr)
        assert.deepStrictEqual(yield* Effect.promise(() => outcomesOf(home)), {
          ...outcomes,
          "shop-1.example": "failed blocked"
        })
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(home, sold)), rows)
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(home, state)), before)

        for (const { close } of [open, forbidding, woo]) yield* close
        const into = folderOfTest()
        const rebuilt = yield* Effect.promise(() =>
          run("larder-ingest", ["rebuild", "--into", into], { LARDER_HOME: home })
        )
        assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
        const reads = `
        select r.run_id, domain, r.read_at::varchar as read_at, r.fetch_status, r.outcome, r.outcome_detail, r.currency,
          pages_read, products_read, collections_read
        from storefront.store_read r join storefront.store using (store_id) order by all`
        const told = yield* Effect.promise(() => rowsOf(home, reads))
        assert.lengthOf(told, 8)
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(into, reads)), told)
      }).pipe(Effect.scoped)
  )
})
