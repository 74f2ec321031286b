import { assert, describe, it } from "@effect/vitest"
import { readWhole } from "@larder/test/support/pipelines/file-feeds.ts"
import { anItem } from "@larder/test/support/pipelines/large-feeds.ts"
import { aProduct, csvOf } from "@larder/test/support/pipelines/shopify-csv-rows.ts"
import { readShopifyCsv } from "./decode/csv/shopify-csv.ts"
import type { Batch } from "./decode/feed.ts"
import { readGoogleMerchant } from "./decode/google/google-merchant.ts"
import { readCollections, readShopifyProducts } from "./decode/json/shopify-json.ts"
import { readWooCommerceProducts } from "./decode/json/woocommerce.ts"
import { feedKinds } from "./feed-kinds.ts"

const needed = {
  shopify: ["compare_at_price", "options"],
  woocommerce: ["compare_at_price"],
  "shopify-csv": ["compare_at_price", "options", "sku"], // the SKU distinguishes variants with the same options
  "google-merchant": ["groups", "options"]
}

describe("fields whose loss is detected", () => {
  it.each(Object.entries(needed))("are optional in %s, except %j", (kind, expected) => {
    const [, { fields }] = Object.entries(feedKinds).find(([name]) => name === kind) ?? assert.fail(kind)
    const found = Object.entries(fields).flatMap(([field, { isOptional }]) => (isOptional ? [] : [field]))
    assert.deepStrictEqual(found.toSorted(), expected)
  })
})

const nul = "\0"
const address = `https://x.example/${nul}.jpg`

type Rows = Pick<Batch, "images" | "products" | "variants"> & Partial<Pick<Batch, "collections" | "rows">>

/** A feed of each kind, with a NUL in every text. */
const feedsWithNul: Readonly<Record<keyof typeof feedKinds, () => Rows | Promise<Rows>>> = {
  shopify: () => {
    const variant = { id: 2, price: "1", title: `S${nul}`, option1: `S${nul}`, sku: `1${nul}`, barcode: `2${nul}` }
    const product = {
      id: 1,
      title: `T${nul}&#0;`,
      handle: `h${nul}`,
      vendor: nul,
      product_type: `P${nul}P`,
      tags: [`a${nul}b`, nul],
      body_html: `<p>a${nul}b &#0;</p>`,
      images: [{ src: address, variant_ids: [2] }],
      variants: [{ ...variant, featured_image: { src: address } }]
    }
    const collection = { id: 1, title: `C${nul}`, handle: `c${nul}`, description: `d${nul}d`, image: { src: address } }
    const { images, products, variants } = readShopifyProducts(JSON.stringify({ products: [product] })).batch
    const { collections } = readCollections(JSON.stringify({ collections: [collection] })).batch
    return { images, products, variants, collections }
  },
  woocommerce: () => {
    const prices = { price: "100", regular_price: "100", currency_code: "EUR", currency_minor_unit: 2 }
    const named = [{ name: `N${nul}N` }]
    const texts = { name: `W${nul}`, slug: `s${nul}%00`, sku: `1${nul}`, description: `d${nul}&#0;d` }
    const product = { id: 1, ...texts, prices, tags: named, brands: named, images: [{ src: address }] }
    const { images, products, variants } = readWooCommerceProducts(JSON.stringify([product])).batch
    return { images, products, variants }
  },
  "shopify-csv": async () => {
    const row = aProduct({
      Handle: `h${nul}h`,
      Title: `T${nul}`,
      "Body (HTML)": `a${nul}&#0;b`,
      Vendor: nul,
      Tags: `a${nul}b,${nul}`,
      "Option1 Value": `S${nul}`,
      "Variant SKU": `1${nul}`,
      "Variant Barcode": `2${nul}`,
      "Image Src": address
    })
    const { images, products, rows, variants } = await readWhole(readShopifyCsv, csvOf([row]))
    return { images, products, rows, variants }
  },
  "google-merchant": async () => {
    const item = anItem({
      "g:id": `1${nul}1`,
      "g:item_group_id": `2${nul}`,
      "g:title": `T${nul}&#0;&amp;#0;`,
      "g:description": `a${nul}&amp;#0;b`,
      "g:brand": nul,
      "g:link": "https://x.example/p?slug=a%00",
      "g:size": `S${nul}`,
      "g:gtin": `3${nul}`,
      "g:product_type": `A${nul} > B`,
      "g:google_product_category": nul,
      "g:image_link": address,
      "g:additional_image_link": null
    })
    const { images, products, rows, variants } = await readWhole(readGoogleMerchant, `<rss>${item}</rss>`)
    return { images, products, rows, variants }
  }
}

describe("a NUL", () => {
  it.each(Object.entries(feedsWithNul))(
    "in a text of %s is in no row, and in an address costs a picture",
    async (_, read) => {
      const { images, ...rows } = await read()
      assert.deepStrictEqual(images, [])
      assert.isNotEmpty(rows.products)
      assert.isNotEmpty(rows.variants)
      assert.notMatch(JSON.stringify(rows), /\\u00[01]/)
    }
  )
})
