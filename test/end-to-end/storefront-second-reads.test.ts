/**
 * Stores whose second read returns less than the first: unusable rows, lists that moved, files of drafts. Existing products
 * are never withdrawn, and no store prevents the others from being read. Two runs over all stores, and three over stores that
 * really lost products.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { parseRunRecord, removeFolder, temporaryFolder } from "./ingesting.ts"
import { expectSameStoresRebuilt } from "./rebuilt-stores.ts"
import {
  type Files,
  ingestStores,
  type Listed,
  outcomesOf,
  replayStores,
  rowsOf,
  shopifyPages,
  writeFiles
} from "./storefronts.ts"

const google = (domain: string): Listed => ({
  domain,
  name: domain,
  kind: "google-merchant",
  location: `https://${domain}/feed.tsv`,
  currency: "EUR"
})
const feed = (domain: string, ...rows: ReadonlyArray<string>): Files => ({
  [`${domain}/feed.tsv`]: ["id\ttitle\tprice\titem_group_id", ...rows, ""].join("\n")
})
const shop = (domain: string): Listed => ({ domain, name: domain, kind: "shopify", location: `https://${domain}` })
const product = (id: number) => ({
  id,
  title: `Cheese ${id}`,
  variants: [{ id: id * 10, title: "Whole", price: "9.00" }]
})
const collection = (id: number, title = `Shelf ${id}`) => ({ id, title, handle: `shelf-${id}`, image: null })
const makeMembers = (domain: string, ...ids: ReadonlyArray<number>): Files =>
  Object.fromEntries(
    ids.flatMap((id) => [
      [`${domain}/collections/shelf-${id}/products.json?limit=250&page=1`, { products: [product(1)] }],
      [`${domain}/collections/shelf-${id}/products.json?limit=250&page=2`, { products: [] }]
    ])
  )
const makeExport = (status: string, count = 4) =>
  `Handle,Title,Variant Price,Status\n${Array.from({ length: count }, (_, index) => index + 1)
    .map((id) => `bread-${id},Bread ${id},2.50,${status}`)
    .join("\n")}\n`

/** A bakery with many products, of which the last has this status and price. */
const makeRetired = (status: string, price: string) =>
  `${makeExport("active", 9)}bread-10,Bread 10,${price},${status}\n`

const csv: Listed = { domain: "drafts.example", name: "Drafts", kind: "shopify-csv", location: "drafts.csv" }
const woo = (domain: string): Listed => ({ ...shop(domain), kind: "woocommerce" })
const amounts = { price: "950", regular_price: "950", currency_code: "EUR", currency_minor_unit: 2 }
const ranged = { ...amounts, price_range: { min_amount: "950", max_amount: "2450" } }
const makeStoreProduct = (id: number, prices: unknown) => ({ id, name: `Oil ${id}`, slug: `oil-${id}`, prices })
const restProduct = { id: 1, name: "Secret oil", status: "private", price: "9.50", regular_price: "9.50" }
const wooPages = (domain: string, ...products: ReadonlyArray<unknown>): Files => ({
  [`${domain}/wp-json/wc/store/v1/products?per_page=100&page=1`]: products,
  [`${domain}/wp-json/wc/store/v1/products?per_page=100&page=2`]: []
})
const twins = `sep=;
Handle;Title;Option1 Value;Variant SKU;Variant Price
brush;Brush;Red;B-1;1.00
brush;;Red;B-2;2.00
brush;;Blue;B-3;3.00
brush;;Red;B-2;4.00
`
/** Makes a table that never ends with a line feed. */
const makeEndless = (price: string): Files => ({
  "endless.example/feed.tsv": `id\ttitle\tprice\n1\tSalt\t${price} EUR\n2\tOil\t${price} EUR`
})
const makeFifth = (products: number) =>
  feed("fifth.example", ...Array.from({ length: products }, (_, id) => `${id}\tSalt ${id}\t1.00 EUR\t`))
const nowhere: Listed = { ...google("nowhere.example"), location: "https://no where.example/feed.tsv" }
const stores = [
  google("group.example"),
  google("unnamed.example"),
  google("sizes.example"),
  shop("moved.example"),
  shop("gaping.example"),
  shop("shelfless.example"),
  shop("halved.example"),
  shop("untitled.example"),
  shop("retyped.example"),
  shop("unpriced.example"),
  google("torn.example"),
  google("endless.example"),
  google("fifth.example"),
  shop("pinned.example"),
  woo("ranged.example"),
  woo("office.example"),
  { ...csv, domain: "twins.example", name: "Twins", location: "twins.csv" },
  { ...csv, domain: "retired.example", name: "Retired", location: "retired.csv" },
  csv
]
const makePriced = (price: (id: number) => unknown) => ({
  products: [1, 2, 3, 4].map((id) => ({
    ...product(id),
    variants: [{ id: id * 10, title: "Whole", price: price(id) }]
  }))
})
const makePage = (...ids: ReadonlyArray<number>) => ({ products: ids.map(product) })

const makeSizes = (groups: number) =>
  Array.from({ length: groups * 5 }, (_, row) => `s${row}\tShirt\t5.00 EUR\tg${Math.floor(row / 5)}`)

const first: Files = {
  "stores.json": stores,
  "drafts.csv": makeExport("active"),
  "retired.csv": makeRetired("active", "2.50"),
  ...feed("group.example", "a\tTea, small\t1.00 EUR\ttea", "b\tTea, large\t2.00 EUR\ttea"),
  ...feed("unnamed.example", "1\tMilk\t1.00 EUR\t", "2\tCream\t2.00 EUR\t"),
  ...feed("sizes.example", ...makeSizes(10)),
  ...shopifyPages("moved.example", [{ products: [product(1)] }], { collections: [collection(1), collection(2)] }),
  ...makeMembers("moved.example", 1, 2),
  ...shopifyPages("gaping.example", [makePage(1, 2), makePage(3)]),
  ...shopifyPages("shelfless.example", [makePage(1, 2, 3)], { collections: [collection(1)] }),
  ...makeMembers("shelfless.example", 1),
  ...shopifyPages("halved.example", [makePage(1, 2, 3, 4)], { collections: [collection(1)] }),
  ...makeMembers("halved.example", 1),
  ...shopifyPages("untitled.example", [makePage(1, 2)], { collections: [collection(1)] }),
  ...makeMembers("untitled.example", 1),
  ...shopifyPages("retyped.example", [makePriced(() => "9.00")]),
  ...shopifyPages("unpriced.example", [makePriced(() => "9.00")]),
  ...feed("torn.example", "1\tSalt\t1.00 EUR\t", "2\tOil\t2.00 EUR\t"),
  ...makeEndless("1.00"),
  ...makeFifth(10),
  "pinned.example/meta.json": { id: 1, name: "Pinned", country: "RO", currency: "EUR", published_products_count: 1 },
  ...shopifyPages("pinned.example", [{ products: [product(1)] }]),
  ...wooPages("ranged.example", makeStoreProduct(1, ranged), makeStoreProduct(2, amounts)),
  ...wooPages("office.example", makeStoreProduct(1, amounts)),
  "twins.csv": twins
}
const second: Files = {
  "stores.json": [...stores, nowhere],
  "drafts.csv": makeExport("draft"),
  "retired.csv": makeRetired("draft", "on request"),
  ...feed("group.example", "a\tTea, small\t1.50 EUR\ttea", "b\tTea, large\task us\ttea"),
  ...feed("unnamed.example", "1\tMilk\t1.00 EUR\t", "\tCream\t2.00 EUR\t", "3\tButter\t99999999999999.99999 EUR\t"),
  ...feed("sizes.example", ...makeSizes(2)),
  ...shopifyPages("moved.example", [{ products: [product(1)] }], { collections: [collection(1)] }),
  "moved.example/collections.json?limit=250&page=2": { collections: [collection(1), collection(3)] },
  "moved.example/collections.json?limit=250&page=3": { collections: [] },
  "moved.example/collections.json?limit=250&page=4": { collections: [] },
  ...makeMembers("moved.example", 1, 3),
  ...shopifyPages("gaping.example", [makePage(1, 2), makePage(), makePage(3)]),
  ...shopifyPages("shelfless.example", [makePage(1, 2)], { collections: [collection(1)] }), // its members are missing
  ...shopifyPages("halved.example", [makePage(1)], { collections: [collection(1)] }),
  ...shopifyPages("untitled.example", [makePage(1)], { collections: [collection(1), { title: "Nameless" }] }),
  ...makeMembers("untitled.example", 1),
  ...shopifyPages("retyped.example", [makePriced(() => ({ amount: "9.50", currency_code: "EUR" }))]),
  ...shopifyPages("unpriced.example", [makePriced((id) => (id === 1 ? null : "9.50"))]),
  "pinned.example/meta.json": { id: 1, name: "Pinned", country: "RO", currency: "EUR", published_products_count: 1 },
  ...shopifyPages("pinned.example", [{ products: [product(1)] }]),
  ...wooPages("ranged.example", makeStoreProduct(1, ranged), makeStoreProduct(2, amounts)),
  ...wooPages("office.example", restProduct),
  "twins.csv": twins.replace("Red;B-1;1.00\nbrush;;Red;B-2;2.00", "Red;B-2;2.00\nbrush;;Red;B-1;1.00"),
  ...makeEndless("1.50"),
  ...makeFifth(8),
  "torn.example/feed.tsv": "id\ttitle\tprice\titem_group_id\n1\tSalt\t1.50 EUR\t\n2\tOi"
}

const home = temporaryFolder()
beforeAll(async () => {
  for (const [files, expected] of [
    [first, { code: 0, outcome: "published" }],
    [second, { code: 4, outcome: "partial" }]
  ] as const) {
    const folder = writeFiles(temporaryFolder(), files)
    const { code, stderr, stdout } = await replayStores(home, folder)
    removeFolder(folder)
    expect({ code, outcome: parseRunRecord({ stdout }).outcome }, stderr).toEqual(expected)
  }
}, 120_000)
afterAll(() => removeFolder(home))

const countListed = (domain: string, kind = "product") =>
  rowsOf(
    home,
    `select count(*)::integer as n from storefront.sighting join storefront.store using (store_id)
     where domain = '${domain}' and sighting.kind = '${kind}' and is_listed`
  )
const readGone = (domain: string) =>
  rowsOf(
    home,
    `select variant_id from storefront.variant_change join storefront.store using (store_id)
     where domain = '${domain}' and change = 'gone'`
  )

it("an address that is not a URL fails only its own store", async () => {
  expect((await outcomesOf(home))["nowhere.example"]).toBe("failed not_found")
})

it("keeps all variants of a product as they were when one cannot be read", async () => {
  expect((await outcomesOf(home))["group.example"]).toBe("complete complete")
  expect(await readGone("group.example")).toEqual([])
  const variants = await rowsOf(
    home,
    `select variant.price::double as price from storefront.variant join storefront.product using (product_id)
     join storefront.store on store.store_id = product.store_id where domain = 'group.example' order by all`
  )
  expect(variants).toEqual([{ price: 1 }, { price: 2 }])
})

it("withdraws nothing when rows do not identify their product", async () => {
  expect((await outcomesOf(home))["unnamed.example"]).toBe("partial unclear")
  expect(await countListed("unnamed.example")).toEqual([{ n: 2 }])
})

it("compares products, not rows: a file with 2 of 10 products withdraws nothing", async () => {
  expect((await outcomesOf(home))["sizes.example"]).toBe("partial shrunk")
  expect(await countListed("sizes.example")).toEqual([{ n: 10 }])
})

it("withdraws a product that became a draft, even if its price cannot be read", async () => {
  expect((await outcomesOf(home))["retired.example"]).toBe("complete complete")
  expect(await countListed("retired.example")).toEqual([{ n: 9 }])
  expect(await rowsOf(home, "select reason from ingest.reject where feed = 'store/retired.example'")).toEqual([])
})

it("withdraws nothing when all products of a file became drafts", async () => {
  expect((await outcomesOf(home))["drafts.example"]).toBe("partial shrunk")
  expect(await countListed("drafts.example")).toEqual([{ n: 4 }])
})

it("withdraws no collection when the list of collections moved while it was read", async () => {
  expect((await outcomesOf(home))["moved.example"]).toBe("partial moved")
  expect(await countListed("moved.example", "collection")).toEqual([{ n: 3 }])
})

it("reads beyond an empty page while products are missing", async () => {
  expect((await outcomesOf(home))["gaping.example"]).toBe("complete complete")
  expect(await countListed("gaping.example")).toEqual([{ n: 3 }])
})

it("withdraws a product that is missing in a whole list, even when collections could not be read", async () => {
  expect((await outcomesOf(home))["shelfless.example"]).toBe("partial broken_off")
  expect(await countListed("shelfless.example")).toEqual([{ n: 2 }])
  expect(await countListed("shelfless.example", "collection")).toEqual([{ n: 1 }])
  expect(await readGone("shelfless.example")).toHaveLength(1)
})

it("withdraws nothing when a shop has lost most of its products, even when collections could not be read", async () => {
  expect((await outcomesOf(home))["halved.example"]).toBe("partial shrunk")
  expect(await countListed("halved.example")).toEqual([{ n: 4 }])
})

it("withdraws a missing product even when a collection has no id", async () => {
  expect((await outcomesOf(home))["untitled.example"]).toBe("partial unclear")
  expect(await countListed("untitled.example")).toEqual([{ n: 1 }])
})

const readPrices = (domain: string) =>
  rowsOf(
    home,
    `select price::double as price, count(*)::integer as n from storefront.variant join storefront.store using (store_id)
     where domain = '${domain}' group by all`
  )
const readLeftOut = (domain: string) =>
  rowsOf(home, `select kind, reason from ingest.left_out where feed = 'store/${domain}' order by run_id desc limit 1`)

it("leaves out a store when every price became an object", async () => {
  expect((await outcomesOf(home))["retyped.example"]).toBe("failed unreadable")
  expect(await readPrices("retyped.example")).toEqual([{ price: 9, n: 4 }])
  expect(await readLeftOut("retyped.example")).toEqual([
    {
      kind: "untrusted",
      reason: expect.stringMatching(
        /none of its 4 rows can be used: the price of its variant 1 is \{"amount":"9\.50",.*\}, which is not a price/
      )
    }
  ])
})

it("rejects a read in which far more prices are missing than before", async () => {
  expect((await outcomesOf(home))["unpriced.example"]).toBe("partial unpriced")
  expect(await readPrices("unpriced.example")).toEqual([{ price: 9, n: 4 }])
  expect(await readGone("unpriced.example")).toEqual([])
  expect(await readLeftOut("unpriced.example")).toEqual([
    { kind: "partial", reason: expect.stringContaining("1 of 4 prices are missing or 0, 25.0 % instead of 0.0 %") }
  ])
})

it("rejects a file that is truncated in a record", async () => {
  expect((await outcomesOf(home))["torn.example"]).toBe("failed unreadable")
  expect(await readPrices("torn.example")).toEqual([
    { price: 1, n: 1 },
    { price: 2, n: 1 }
  ])
  expect(
    await rowsOf(home, "select reason from ingest.reject where feed = 'store/torn.example' and position = 0")
  ).toEqual([{ reason: "this read was not accepted; rows discarded: 1" }])
})

it("reads a file that ends in the middle of a line if the previous file also did", async () => {
  expect((await outcomesOf(home))["endless.example"]).toBe("complete complete")
  expect(await readPrices("endless.example")).toEqual([{ price: 1.5, n: 2 }])
})

it("withdraws a fifth of the products of a file only when they are missing twice", async () => {
  expect((await outcomesOf(home))["fifth.example"]).toBe("partial shrunk")
  expect(await countListed("fifth.example")).toEqual([{ n: 10 }])
})

it("finds recorded pages without a country even if the meta.json of the store names one", async () => {
  expect((await outcomesOf(home))["pinned.example"]).toBe("complete complete")
  expect(await readPrices("pinned.example")).toEqual([{ price: 9, n: 1 }])
})

it("reads the lowest and the highest price of a WooCommerce product with variations from its price range", async () => {
  const found = `select p.native_id, price_min::double as low, price_max::double as high
    from storefront.product p join storefront.store using (store_id) where domain = 'ranged.example' order by all`
  expect(await rowsOf(home, found)).toEqual([
    { native_id: "1", low: 9.5, high: 24.5 },
    { native_id: "2", low: 9.5, high: 9.5 }
  ])
})

it("rejects WooCommerce's responses for administrators, and keeps the rows of the store", async () => {
  expect((await outcomesOf(home))["office.example"]).toBe("failed unreadable")
  expect(await readLeftOut("office.example")).toEqual([
    { kind: "untrusted", reason: expect.stringContaining("the REST API wc/v3 of WooCommerce") }
  ])
  expect(await rowsOf(home, "select 1 from storefront.product where title = 'Secret oil'")).toEqual([])
  expect(await readPrices("office.example")).toEqual([{ price: 9.5, n: 1 }])
})

it("treats rows that share handle and options but have different SKUs as variants, in any order", async () => {
  const variants = `select v.native_id, v.price::double as price
    from storefront.variant v join storefront.store using (store_id) where domain = 'twins.example' order by all`
  expect(await rowsOf(home, variants)).toEqual([
    { native_id: "brush/Blue", price: 3 },
    { native_id: "brush/Red\\#B-1", price: 1 },
    { native_id: "brush/Red\\#B-2", price: 2 }
  ])
  expect(await readGone("twins.example")).toEqual([])
  expect(
    await rowsOf(
      home,
      "select distinct reason, position::integer as line from ingest.reject where feed = 'store/twins.example'"
    )
  ).toEqual([{ reason: "duplicate id brush/Red\\#B-2 (first seen in an earlier row)", line: 6 }])
})

it("accepts losses with --accept-shrinkage, and a different set of products when it is found twice", async () => {
  const folder = writeFiles(temporaryFolder(), {
    "stores.json": [
      shop("unpriced.example"),
      google("sizes.example"),
      shop("gaping.example"),
      google("fifth.example"),
      google("torn.example")
    ],
    ...makeFifth(8),
    "torn.example/feed.tsv": "id\ttitle\tprice\titem_group_id\n1\tSalt\t1.50 EUR\t\n2\tOil\t2.50 EUR\t",
    ...shopifyPages("gaping.example", [makePage(7, 8)]),
    ...shopifyPages("unpriced.example", [makePriced((id) => (id === 1 ? null : "9.50"))]),
    "sizes.example/feed.tsv": ["id\ttitle\tprice", ...makeSizes(10).map((row) => row.replace(/\t\w+$/, "")), ""].join(
      "\n"
    )
  })
  const refused = await replayStores(home, folder)
  expect([refused.code, await countListed("gaping.example")], refused.stderr).toEqual([4, [{ n: 3 }]])
  const repeated = await replayStores(home, folder)
  expect([repeated.code, await countListed("gaping.example")], repeated.stderr).toEqual([4, [{ n: 2 }]])
  const accepted = await ingestStores(home, ["--replay", folder, "--accept-shrinkage"])
  removeFolder(folder)
  expect(accepted.code, accepted.stderr).toBe(0)
  expect(refused.stderr).toMatch(/gaping\.example: None of the products that it listed before are there/)
  expect(refused.stderr).toMatch(
    /sizes\.example: .*no product has the field item_group_id any more; before, 10 of 10 products had a value in it.*--accept-shrinkage/
  )
  expect(refused.stderr).toMatch(/unpriced\.example: .*--accept-shrinkage/)
  expect(await readPrices("unpriced.example")).toEqual(
    expect.arrayContaining([
      { price: 9.5, n: 3 },
      { price: null, n: 1 }
    ])
  )
  expect(await countListed("sizes.example")).toEqual([{ n: 50 }])
  expect(await countListed("fifth.example")).toEqual([{ n: 8 }])
  expect(repeated.stderr).toMatch(
    /torn\.example: .*ends in the middle of a line, which the previous file did not: it was cut off/
  )
  expect(await readPrices("torn.example")).toEqual(expect.arrayContaining([{ price: 2.5, n: 1 }]))
})

it("rebuilds the same products, ids, times and history from the archive", () => expectSameStoresRebuilt(home))
