/**
 * Live runs over files of stores, by the program itself, and over shops on this machine, in the process of the test and
 * without pauses between requests: only what the operator allows is read.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { ingestLive } from "../support/pipelines/live-runs.ts"
import { readPayloads } from "../support/pipelines/raw-archive.ts"
import { type Misbehaviour, type Shop, startShop } from "../support/pipelines/store-host.ts"
import type { Ended, Environment } from "../support/programs.ts"
import { copyForTest, makeTestFolder, parseRunRecord, rebuildFrom, removeFolder, temporaryFolder } from "./ingesting.ts"
import { ingestStores, type Listed, outcomesOf, type Row, rowsOf, writeFiles } from "./storefronts.ts"

const csv = "Handle,Title,Variant Price\nrye,Rye bread,2.50\nspelt,Spelt bread,3.20\n"

const bakery = {
  domain: "bakery.example",
  name: "Bakery",
  kind: "shopify-csv",
  location: "bakery/export.csv",
  currency: "GBP"
} as const

/** Makes a folder with a list of stores, a folder with their files, and a home. */
const setUp = (
  folder: string,
  stores: unknown,
  files: Readonly<Record<string, string>> = { "bakery/export.csv": csv }
) => {
  const [list, storeFiles, home] = ["list.json", "files", "home"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string
  ]
  const writeList = (stores: unknown) => writeFileSync(list, JSON.stringify(stores))
  writeList(stores)
  for (const created of [storeFiles, home]) mkdirSync(created)
  writeFiles(storeFiles, files)
  const ingest = (environment: Environment = {}) =>
    ingestStores(home, [], {
      LARDER_SOURCES: "live",
      LARDER_STORES: list,
      LARDER_STORE_FILES: storeFiles,
      ...environment
    })
  return { folder, home, list, writeList, storeFiles, ingest }
}

const readFailures = (home: string) =>
  rowsOf(
    home,
    `select domain, r.outcome, r.outcome_detail from ingest.store_read r join storefront.store using (store_id)
     where r.fetch_status = 'failed' order by domain`
  )

describe("a live run of stores", () => {
  it("is refused without a list, with exit code 2", async () => {
    const home = makeTestFolder()
    const { code, stderr, stdout } = await ingestStores(home, [], { LARDER_SOURCES: "live" })
    assert.strictEqual(code, 2, stderr)
    assert.include(stderr, "No store list is given: name a JSON file with --stores or in LARDER_STORES.")
    assert.deepInclude(parseRunRecord({ stdout }), { outcome: "failed", rows_read: null, generation: null })
    assert.deepStrictEqual(readdirSync(home), [])
  })

  it("names all faults of its list and exits with 2 before anything is fetched", async () => {
    const faulty = [{ ...bakery, kind: "etsy" }, bakery, { ...bakery, currency: "£" }, bakery]
    const { home, ingest } = setUp(makeTestFolder(), faulty)
    const { code, problems } = await ingest()
    assert.strictEqual(code, 2)
    for (const fault of [/Store 1, kind: /, /Store 3, currency: /, /bakery\.example is listed twice/]) {
      assert.match(problems, fault)
    }
    assert.isFalse(readdirSync(home).includes("warehouse") && readdirSync(path.join(home, "warehouse")).length > 0)
  })

  it("exits with 2 and names a list file that does not exist", async () => {
    const { folder, ingest } = setUp(makeTestFolder(), [bakery])
    const { code, problems } = await ingest({ LARDER_STORES: path.join(folder, "missing.json") })
    assert.strictEqual(code, 2)
    assert.match(problems, /The store list \S+missing\.json cannot be used\. There is no such file\./)
  })

  it("exits with 1 without a folder of store files, and records each store as failed", async () => {
    const { home, list } = setUp(makeTestFolder(), [bakery, { ...bakery, domain: "other.example" }])
    const { code, problems } = await ingestStores(home, [], { LARDER_SOURCES: "live", LARDER_STORES: list })
    assert.strictEqual(code, 1)
    assert.match(
      problems,
      /2 feeds of storefronts left out; none could be read\.\nstore\/bakery\.example, store\/other\.example: .*LARDER_STORE_FILES/
    )
    assert.deepStrictEqual(
      (await readFailures(home)).map(({ domain, outcome }) => [domain, outcome]),
      [
        ["bakery.example", "not_found"],
        ["other.example", "not_found"]
      ]
    )
  })
})

describe("a live run of stores, some of which fail", () => {
  const secret = "Handle,Title,Variant Price\nsecret,A secret of this machine,1\n"
  const messyExport = `Handle,Title,Option1 Value,Variant Price,Status,Image Src
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
  const messy: Listed = { ...bakery, domain: "messy.example", location: "messy.csv" }
  const other: Listed = { ...bakery, domain: "other.example", location: "other.csv" }
  const locations = [
    "../secret.csv",
    "bakery/../../secret.csv",
    "link.csv",
    "linked/secret.csv",
    "/etc/hostname",
    "file:///etc/hostname",
    "..\\secret.csv",
    "%2e%2e/secret.csv",
    "bakery",
    "pipe.csv"
  ]
  const outside = locations.map((location, n): Listed => ({ ...bakery, domain: `outside-${n}.example`, location }))
  const requests: Array<string> = []
  let setting: ReturnType<typeof setUp>
  let first: Ended
  const scope = Effect.runSync(Scope.make())

  beforeAll(async () => {
    const shop = await Effect.runPromise(Scope.provide(startShop({ pages: [[1]] }), scope))
    const local: Listed = { ...bakery, domain: "local.example", kind: "shopify", location: shop.url }
    setting = setUp(temporaryFolder(), [bakery, messy, other, local, ...outside], {
      "bakery/export.csv": csv,
      "messy.csv": messyExport
    })
    writeFileSync(path.join(setting.folder, "secret.csv"), secret)
    symlinkSync(path.join(setting.folder, "secret.csv"), path.join(setting.storeFiles, "link.csv"))
    symlinkSync(setting.folder, path.join(setting.storeFiles, "linked"))
    execFileSync("mkfifo", [path.join(setting.storeFiles, "pipe.csv")]) // opening it would wait for a writer forever
    first = await setting.ingest()
    requests.push(...shop.requests.map(({ url }) => url))
  })
  afterAll(async () => {
    removeFolder(setting.folder)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("publishes the other stores, exits with 4 and names each store that failed or was read in part", async () => {
    assert.strictEqual(first.code, 4, first.stderr)
    assert.deepInclude(parseRunRecord(first), { outcome: "partial", rows_read: 12 })
    assert.strictEqual(first.problems.split("store/other.example").length, 2, "a store that fails costs one line")
    const leftOut = parseRunRecord(first).left_out as ReadonlyArray<Row>
    assert.deepStrictEqual(
      leftOut.flatMap(({ feed, kind }) => (String(feed).startsWith("store/outside") ? [] : [`${feed}: ${kind}`])),
      ["store/messy.example: partial", "store/other.example: unreachable", "store/local.example: unreachable"]
    )
    assert.lengthOf(leftOut, locations.length + 3)
    assert.deepInclude(await outcomesOf(setting.home), {
      "bakery.example": "complete complete",
      "messy.example": "partial unclear",
      "other.example": "failed not_found"
    })
  })

  it("reads files below the folder of store files, and never a file outside of it", async () => {
    const failed = (await readFailures(setting.home)).filter(({ domain }) => String(domain).startsWith("outside"))
    assert.lengthOf(failed, locations.length)
    assert.deepStrictEqual(
      await rowsOf(
        setting.home,
        `select distinct domain from storefront.product join storefront.store using (store_id) order by domain`
      ),
      [{ domain: "bakery.example" }, { domain: "messy.example" }]
    )
    const lists = path.join(setting.home, "raw/fetches")
    const archived = [
      ...readPayloads(path.join(setting.home, "raw")).map(String),
      ...readdirSync(lists).map((name) => readFileSync(path.join(lists, name), "utf8"))
    ]
    assert.isAbove(archived.length, 2)
    assert.isTrue(archived.some((text) => text.includes("Rye bread")))
    assert.deepStrictEqual(
      archived.filter((text) => text.includes("A secret of this machine")),
      []
    )
  })

  it("reports that a file is a pipe, and does not wait for it", async () => {
    const piped = (await readFailures(setting.home)).at(-1)
    assert.match(String(piped?.outcome_detail), /pipe\.csv: it is a pipe, and only regular files are read/)
    assert.notInclude(String(piped?.outcome_detail), "ecord")
  })

  it("sends no request to a shop on this machine, and names LARDER_PRIVATE_HOSTS", async () => {
    assert.deepStrictEqual(requests, [])
    const local = (await readFailures(setting.home)).find(({ domain }) => domain === "local.example")
    assert.strictEqual(local?.outcome, "private_address")
    assert.match(String(local?.outcome_detail), /LARDER_PRIVATE_HOSTS/)
  })

  it("counts each row of a faulty export as loaded, unchanged or rejected", async () => {
    assert.deepInclude(parseRunRecord(first), { rows_read: 12, rows_loaded: 4, rows_unchanged: 2, rows_rejected: 6 })
    assert.deepStrictEqual(
      (
        await rowsOf(setting.home, "select position::integer as line, reason from ingest.reject order by line, reason")
      ).map(({ line, reason }) => `${line}: ${reason}`),
      [
        "0: no row of product picture has a title; rows: 1",
        "3: duplicate id good/S (first seen in an earlier row)",
        "6: no row of product nameless has a title; rows: 2",
        "9: it has no handle",
        '10: its variant price is "free", which is not an amount'
      ]
    )
  })

  it("keeps the rows of a store that is no longer in the list, and reports a file that is a web page", async () => {
    const home = copyForTest(setting.home)
    writeFiles(setting.storeFiles, {
      "other.csv": "Handle,Title,Variant Price\noat,Oat bread,1.10\n",
      "page.csv": "<!DOCTYPE html><html><title>Log in</title></html>"
    })
    setting.writeList([other, { ...other, domain: "page.example", location: "page.csv" }])
    const later = await setting.ingest({ LARDER_HOME: home })
    assert.strictEqual(later.code, 4, later.stderr)
    assert.deepInclude((parseRunRecord(later).left_out as ReadonlyArray<Row>)[0], {
      feed: "store/page.example",
      kind: "untrusted"
    })
    assert.strictEqual((await outcomesOf(home))["page.example"], "failed html")
    const listed = `select domain, count(*)::integer as n from storefront.listing join storefront.store using (store_id)
      group by all order by all`
    assert.deepStrictEqual(await rowsOf(home, listed), [
      { domain: "bakery.example", n: 2 },
      { domain: "messy.example", n: 1 },
      { domain: "other.example", n: 1 }
    ])
  })
})

describe("a live run over shops on this machine", () => {
  const shop: Shop = {
    pages: [[1, 2], [3]],
    collections: { cheese: [[3, 1]] },
    meta: { id: 7, name: "Dairy", country: "NO", currency: "USD", published_products_count: 3 },
    headers: { "set-cookie": "cart_currency=NOK; path=/" }
  }
  const storeAt = (n: number, url: string, kind: Listed["kind"] = "shopify"): Listed => ({
    domain: `shop-${n}.example`,
    name: `Shop ${n}`,
    kind,
    location: url
  })

  it.live(
    "sends each shop one request at a time, keeps the rows of a shop that later refuses, and can be rebuilt",
    () =>
      Effect.gen(function* () {
        let isClosed = false
        const refuse: Misbehaviour = ({ path, response }) => {
          if (!isClosed || path === "/robots.txt") return false
          response.writeHead(403).end("<html><title>Attention Required!</title></html>")
          return true
        }
        const open = yield* startShop(shop, refuse)
        const forbidding = yield* startShop({ pages: [[1]], robots: "User-agent: *\nDisallow: /" })
        const woo = yield* startShop({ pages: [[5, 6]] })
        const stores = [storeAt(1, open.url), storeAt(2, forbidding.url), storeAt(3, woo.url, "woocommerce"), bakery]
        const { home, list, storeFiles } = setUp(makeTestFolder(), stores)
        const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1", LARDER_STORES: list, LARDER_STORE_FILES: storeFiles }
        const first = yield* Effect.promise(() => ingestLive(storefronts, { home, environment }))
        assert.strictEqual(first.run?.outcome, "partial", first.problem)
        assert.deepStrictEqual(
          forbidding.requests.map(({ url }) => url),
          ["/robots.txt"]
        )
        assert.deepStrictEqual([open.load.max, woo.load.max], [1, 1])
        assert.include(open.requests.map(({ url }) => url).join(" "), "country=NO")
        assert.isTrue(open.requests.every(({ headers }) => /^Larder\//.test(headers["user-agent"] ?? "")))
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
        from storefront.store join storefront.store_status using (store_id) where domain = 'shop-1.example'`
        const before = yield* Effect.promise(() => rowsOf(home, state))
        const second = yield* Effect.promise(() => ingestLive(storefronts, { home, environment }))
        assert.strictEqual(second.run?.outcome, "partial", second.problem)
        assert.deepStrictEqual(yield* Effect.promise(() => outcomesOf(home)), {
          ...outcomes,
          "shop-1.example": "failed blocked"
        })
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(home, sold)), rows)
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(home, state)), before)

        for (const { close } of [open, forbidding, woo]) yield* close
        const rebuilt = yield* Effect.promise(() => rebuildFrom(home))
        const reads = `
        select r.run_id, domain, r.read_at::varchar as read_at, r.fetch_status, r.outcome, r.outcome_detail, r.currency,
          pages_read, products_read, collections_read
        from ingest.store_read r join storefront.store using (store_id) order by all`
        const recorded = yield* Effect.promise(() => rowsOf(home, reads))
        assert.lengthOf(recorded, 8)
        assert.deepStrictEqual(yield* Effect.promise(() => rowsOf(rebuilt, reads)), recorded)
      }).pipe(Effect.scoped)
  )
})
