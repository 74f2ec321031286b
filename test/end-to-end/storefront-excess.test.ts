/** Products with more variants and pictures than shops allow, in a file and in a shop's pages. Takes about 20 s. */
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder, parseRunRecord } from "./ingesting.ts"
import { replayStores, rowsOf, shopifyPages, writeFiles } from "./storefronts.ts"

const bakery = {
  domain: "bakery.example",
  name: "Bakery",
  kind: "shopify-csv",
  location: "bakery/export.csv",
  currency: "GBP"
} as const
const shop = { domain: "shop.example", name: "Shop", kind: "shopify", location: "https://shop.example" } as const

const formatRejects = async (home: string) =>
  (await rowsOf(home, "select position::integer as line, reason from ingest.reject order by line")).map(
    ({ line, reason }) => `${line}: ${reason}`
  )

describe("a product with too many variants in an export", () => {
  const header = "Handle,Title,Option1 Value,Variant Price,Image Src"
  const shirts = Array.from({ length: 2060 }, (_, n) => `shirt,Shirt,v${n},1.00,https://cdn.example/${n}.jpg`)
  const duplicates = ["shirt,,v0,2.00,", "shirt,,v2059,2.00,"]
  const mug = "mug,Mug,,3.00,https://cdn.example/mug.jpg"
  const makeFiles = (...rows: ReadonlyArray<string>) => ({
    "stores.json": [bakery],
    "bakery/export.csv": [header, ...rows, ""].join("\n")
  })
  const products = `
    select handle, len(variants)::integer as variants, variants[-1].option1 as last,
      len(images)::integer as images, images[-1].src as last_image
    from storefront.product order by handle`
  const changes = "select change, count(*)::integer as n from storefront.variant_change group by all order by all"

  it("keeps 2,048 variants and 1,000 pictures, and reports how many are left out", async () => {
    const [home, folder] = [makeTestFolder(), makeTestFolder()]
    const first = await replayStores(home, writeFiles(folder, makeFiles(...shirts, ...duplicates, mug)))
    assert.strictEqual(first.code, 0, first.stderr)
    assert.deepInclude(parseRunRecord(first), { rows_read: 2063, rows_loaded: 2049, rows_rejected: 14 })
    assert.deepStrictEqual(await formatRejects(home), [
      "1002: shirt has more than 1000 pictures; left out: 1060",
      "2050: shirt has more than 2048 variants; left out: 12",
      "2062: duplicate id shirt/v0 (first seen in an earlier row)",
      "2063: duplicate id shirt/v2059 (first seen in an earlier row)"
    ])
    const kept = [
      { handle: "mug", variants: 1, last: null, images: 1, last_image: "https://cdn.example/mug.jpg" },
      { handle: "shirt", variants: 2048, last: "v2047", images: 1000, last_image: "https://cdn.example/999.jpg" }
    ]
    assert.deepStrictEqual(await rowsOf(home, products), kept)

    // now other variants come first: the known ones do not count as withdrawn
    const pricierMug = mug.replace("3.00", "4.00")
    const second = await replayStores(home, writeFiles(folder, makeFiles(...shirts.toReversed(), pricierMug)))
    assert.strictEqual(second.code, 0, second.stderr)
    assert.deepStrictEqual(await rowsOf(home, products), kept)
    assert.deepStrictEqual(await rowsOf(home, changes), [
      { change: "changed", n: 1 },
      { change: "first_seen", n: 2049 }
    ])
  })
})

describe("a product that several pages of a shop list with different variants", () => {
  it("keeps at most 2,048 variants, and the other products are read", async () => {
    const [home, folder] = [makeTestFolder(), makeTestFolder()]
    const variants = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: from + n, price: "1.00" }))
    const pages = [1, 2].map((page) => ({
      products: [
        { id: 1, title: "Hydra", variants: variants(page * 2000, 1500) },
        { id: page + 1, title: "Other", variants: variants(page * 10, 1) },
        ...(page === 1 ? [{ id: 9, title: "Giant", variants: variants(90_000, 2049) }] : [])
      ]
    }))
    writeFiles(folder, { "stores.json": [shop], ...shopifyPages(shop.domain, pages) })
    const read = await replayStores(home, folder)
    assert.strictEqual(read.code, 4, read.stderr) // a product on two pages counts as moved
    assert.deepInclude(parseRunRecord(read), { rows_read: 5, rows_loaded: 4, rows_unchanged: 1, rows_rejected: 0 })
    assert.deepStrictEqual(
      await rowsOf(home, "select native_id, len(variants)::integer as n from storefront.product order by native_id"),
      [1, 2, 3, 9].map((id) => ({ native_id: String(id), n: id === 1 || id === 9 ? 2048 : 1 }))
    )
    assert.deepStrictEqual(await formatRejects(home), [
      "549: 1 has more than 2048 variants; left out: 952",
      "2049: 9 has more than 2048 variants; left out: 1"
    ])
  })
})
