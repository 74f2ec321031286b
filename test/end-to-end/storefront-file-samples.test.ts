/** Compares recorded files of shops with counts that are independent of the readers. */
import { createReadStream, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { assert, it } from "@effect/vitest"
import { readShopifyCsv } from "@larder/pipelines/storefronts/decode/csv/shopify-csv.ts"
import type { ReadFile } from "@larder/pipelines/storefronts/decode/feed.ts"
import { readGoogleMerchant } from "@larder/pipelines/storefronts/decode/google/google-merchant.ts"
import { describeSamples, samplesOf } from "../support/shared-samples.ts"
import { parseCsv } from "./plain-csv.ts"

const fileOf = (name: string) => path.join(samplesOf("storefront"), name)

const readAll = async (read: ReadFile, name: string, currency: string | null = null) => {
  const batches = []
  for await (const batch of read(() => createReadStream(fileOf(name)), { currency })) batches.push(batch)
  return {
    rows: batches.flatMap(({ rows }) => rows),
    products: batches.flatMap(({ products }) => products),
    variants: batches.flatMap(({ variants }) => variants),
    images: batches.flatMap(({ images }) => images),
    rejects: batches.flatMap(({ rejects }) => rejects)
  }
}

type Cells = Readonly<Record<string, string>>

const recordsIn = (name: string, separator?: string): ReadonlyArray<Cells> =>
  parseCsv(readFileSync(fileOf(name), "utf8"), separator)

const isVariant = (record: Cells) => [record["Variant Price"], record["Option1 Value"]].some((cell) => cell !== "")
const countOf = (texts: ReadonlyArray<string>) => {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}

/** Whether a record states that its product is left out. Its variant and its picture are not read then. */
const isHidden = ({ Published, Status = "active", Title }: Cells) =>
  Title !== "" && !(Status === "active" && Published?.toLowerCase() === "true")

/** Records, handles, published products, variants, pictures. */
const exportsOfShopify = [
  ["balancedbitesdev--balanced_bites_shopify_import_ready", 61, 50, 50, 50, 52],
  ["basarabiastore-max--products_export_1", 503, 503, 503, 503, 0],
  ["garyjacksonwork--products_export_1", 21, 21, 21, 21, 20],
  ["kevin-ecometrics--products_export_1", 157, 141, 141, 157, 16],
  ["mintpixels--products_export_1", 1145, 375, 269, 442, 954],
  ["shopifypartners--apparel", 22, 20, 20, 22, 20],
  ["shopifypartners--home-and-garden", 21, 20, 20, 21, 21],
  ["shopifypartners--jewelery", 41, 20, 20, 23, 41],
  ["velofant--products_export_1", 48, 14, 12, 17, 46],
  ["yadayadasoftware--shopify_sample_product_template", 17, 3, 1, 14, 9]
] as const

const testExports = () => {
  it.each(exportsOfShopify)(
    "match an independent count: %s has %i records of %i products",
    async (name, rows, handles, published, variants, images) => {
      const file = `shopify-csv/${name}.csv`
      const records = recordsIn(file)
      const read = await readAll(readShopifyCsv, file)
      assert.deepStrictEqual(
        [read.rows.length, new Set(read.rows).size, read.products.length, read.variants.length, read.images.length],
        [rows, handles, handles, variants, images]
      )
      assert.strictEqual(read.products.filter((product) => product.is_published).length, published)
      assert.deepStrictEqual(read.rejects, [])

      const shown = records.filter((record) => !isHidden(record))
      const priced = shown.filter(isVariant)
      const pictures = shown.filter((record) => /^https?:/.test(record["Image Src"] ?? ""))
      const live = shown.filter(({ Title }) => Title !== "")
      assert.deepStrictEqual(
        [
          records.length,
          new Set(records.map(({ Handle }) => Handle)).size,
          live.length,
          priced.length,
          pictures.length
        ],
        [rows, handles, published, variants, images]
      )
      assert.deepStrictEqual(
        read.variants.map(({ price }) => Number(price)),
        priced.map((record) => Number(record["Variant Price"]))
      )
      assert.deepStrictEqual(
        read.variants.map(({ compare_at_price: former }) => Number(former)),
        priced.map((record) => {
          const former = Number(record["Variant Compare At Price"])
          return former > Number(record["Variant Price"]) ? former : 0
        })
      )
    }
  )

  it("keep the categories, barcodes, texts and stock that the shop states", async () => {
    const foods = "shopify-csv/kevin-ecometrics--products_export_1.csv"
    const categories = (await readAll(readShopifyCsv, foods)).products.map((product) => product.stated_category ?? "")
    assert.deepStrictEqual(
      categories,
      recordsIn(foods)
        .filter(({ Title }) => Title !== "")
        .map((record) => record["Product Category"] ?? "")
    )
    assert.strictEqual(categories.filter((category) => category.startsWith("Food, Beverages & Tobacco >")).length, 140)

    const gifts = "shopify-csv/mintpixels--products_export_1.csv"
    const { products, variants } = await readAll(readShopifyCsv, gifts)
    const records = recordsIn(gifts)
    assert.strictEqual(records.filter(({ Status }) => Status === "active").length, 297)
    assert.strictEqual(records.filter((record) => !isVariant(record)).length, 597)
    const shown = records.filter((record) => !isHidden(record))
    assert.strictEqual(shown.filter((record) => record["Variant Barcode"]?.startsWith("'")).length, 442)
    assert.isTrue(variants.every(({ barcode, sku }) => !barcode?.startsWith("'") && !sku?.startsWith("'")))
    assert.strictEqual(variants.filter(({ barcode }) => barcode !== null).length, 442)
    assert.isTrue(products.every(({ body_text }) => body_text === null || !/<\/?[a-z]/i.test(body_text)))
    // Newer exports track the stock without saying how much there is.
    assert.strictEqual(
      variants.filter(({ available }) => available === null).length,
      shown.filter(
        (record) =>
          isVariant(record) &&
          record["Variant Inventory Tracker"] !== "" &&
          record["Variant Inventory Policy"] !== "continue"
      ).length
    )
  })

  it("include every file of the folder shopify-csv", () => {
    assert.sameMembers(
      readdirSync(fileOf("shopify-csv")),
      exportsOfShopify.map(([name]) => `${name}.csv`)
    )
  })
}

/** Finds the text between the tags of a name for each item, without CDATA and entities, by searching only for tags. */
const fieldsIn = (name: string, field: string): ReadonlyArray<string> => {
  const text = readFileSync(fileOf(name), "utf8")
  const items = text.split(/<item>/).slice(1)
  return items.map((item) => {
    const withoutShipping = item
      .replace(/<g:shipping>[\s\S]*?<\/g:shipping>/g, "")
      .replace(/<g:tax>[\s\S]*?<\/g:tax>/g, "")
    const found = new RegExp(`<${field}>([\\s\\S]*?)</${field}>`).exec(withoutShipping)?.[1] ?? ""
    return found
      .replace(/^<!\[CDATA\[([\s\S]*)\]\]>$/, "$1")
      .replaceAll("&amp;", "&")
      .trim()
  })
}

/** Items, products, and how many are priced in which currency, available, not available, on sale. */
const feedsOfGoogle = [
  ["barisugus--merchant-feed.xml", 785, 785, { USD: 403, EUR: 378, TRY: 4 }, 785, 0, 0],
  ["mattosrodrigo--merchant-feed.xml", 5, 2, { BRL: 5 }, 5, 0, 1],
  ["sooq-alemarat--google-merchant-feed.xml", 5, 5, { AED: 5 }, 5, 0, 5],
  ["sooq-masr--google-merchant-feed.xml", 1018, 860, { EGP: 1018 }, 1018, 0, 0],
  ["taras2121212-source--google-merchant-feed.xml", 56, 56, { UAH: 56 }, 16, 40, 7],
  ["velofant--Produkter_Prisjakt26_XMl.txt", 26, 26, { SEK: 26 }, 22, 4, 19]
] as const

const testFeeds = () => {
  it.each(feedsOfGoogle)(
    "match an independent count: %s has %i items of %i products",
    async (name, items, products, currencies, available, soldOut, sales) => {
      const file = `google-merchant/${name}`
      const read = await readAll(readGoogleMerchant, file)
      assert.deepStrictEqual([read.rows.length, new Set(read.rows).size, read.rejects.length], [items, products, 0])
      assert.deepStrictEqual(countOf(read.variants.map(({ currency }) => currency ?? "none")), currencies)
      assert.deepStrictEqual(
        [true, false].map((state) => read.variants.filter((variant) => variant.available === state).length),
        [available, soldOut]
      )
      assert.strictEqual(read.variants.filter(({ compare_at_price }) => compare_at_price !== null).length, sales)
      assert.isTrue(read.products.every(({ body_text, title }) => title !== "" && body_text !== null))

      assert.deepStrictEqual(
        read.variants.map(({ native_id }) => native_id),
        fieldsIn(file, "g:id")
      )
      const prices = fieldsIn(file, "g:price").map(Number.parseFloat)
      const lower = fieldsIn(file, "g:sale_price").map((text) => Number.parseFloat(text) || Number.POSITIVE_INFINITY)
      assert.deepStrictEqual(
        read.variants.map(({ price }) => Number(price)),
        prices.map((price, item) => Math.min(price, lower[item] ?? price))
      )
      assert.deepStrictEqual(
        read.images.map(({ src }) => src),
        fieldsIn(file, "g:image_link")
      )
    }
  )

  it("return the items of a group as variants of one product: mattosrodrigo", async () => {
    const { rows } = await readAll(readGoogleMerchant, "google-merchant/mattosrodrigo--merchant-feed.xml")
    assert.deepStrictEqual(Object.values(countOf(rows)).sort(), [1, 4])
  })

  it("leave the currency of a TSV whose prices name none to the store list: m5zoon", async () => {
    const file = "google-merchant/m5zoon--google_merchant_feed_en.tsv"
    const { products, rejects, variants } = await readAll(readGoogleMerchant, file, "AED")
    const records = recordsIn(file, "\t")
    assert.deepStrictEqual([variants.length, products.length, records.length, rejects.length], [30, 30, 30, 0])
    assert.deepStrictEqual(countOf(variants.map(({ currency }) => currency ?? "none")), { none: 30 })
    assert.deepStrictEqual(
      variants.map(({ compare_at_price, price }) => [Number(price), Number(compare_at_price)]),
      records.map(({ price, sale_price }) => [Number(sale_price), Number(price)])
    )
    assert.deepStrictEqual(
      products.map(({ product_type }) => product_type),
      records.map(({ category = "" }) => category)
    )
  })

  it("return the same prices from a CSV as from the XML: sooq-alemarat", async () => {
    const csv = await readAll(readGoogleMerchant, "google-merchant/sooq-alemarat--google-merchant-feed.csv")
    const xml = await readAll(readGoogleMerchant, "google-merchant/sooq-alemarat--google-merchant-feed.xml")
    const pricesOf = ({ variants }: typeof csv) =>
      variants.map(({ compare_at_price, currency, native_id, price }) => [native_id, price, compare_at_price, currency])
    assert.deepStrictEqual(pricesOf(csv), pricesOf(xml))
    assert.deepStrictEqual(pricesOf(csv)[0], ["1", "150", "200", "AED"])
  })

  it("include every file of the folder google-merchant", () => {
    const others = ["m5zoon--google_merchant_feed_en.tsv", "sooq-alemarat--google-merchant-feed.csv"]
    assert.sameMembers(readdirSync(fileOf("google-merchant")), [...feedsOfGoogle.map(([name]) => name), ...others])
  })
}

describeSamples("storefront", "recorded product exports of Shopify shops", testExports)
describeSamples("storefront", "recorded feeds for Google", testFeeds)
