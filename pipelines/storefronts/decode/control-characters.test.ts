/** A NUL anywhere in a payload costs at most its row, and never reaches the rows of a product. */
import { assert, describe, it } from "@effect/vitest"
import { readWhole } from "@larder/test/support/pipelines/file-feeds.ts"
import { anItem } from "@larder/test/support/pipelines/large-feeds.ts"
import { aProduct, csvOf } from "@larder/test/support/pipelines/shopify-csv-rows.ts"
import { readShopifyCsv } from "./csv/shopify-csv.ts"
import { readGoogleMerchant } from "./google/google-merchant.ts"
import { readCollections, readShopifyProducts } from "./json/shopify-json.ts"
import { readWooCommerceProducts } from "./json/woocommerce.ts"

const nul = "\0"
const address = `https://x.example/${nul}.jpg`

const expectNoControls = (rows: unknown) => {
  const text = JSON.stringify(rows)
  assert.isAbove(text.length, 100)
  assert.notMatch(text, /\\u00[01]/)
}

describe("a NUL", () => {
  it("is in no row of a page of Shopify", () => {
    const variant = { id: 2, price: "1", title: `S${nul}`, option1: `S${nul}`, sku: `1${nul}`, barcode: `2${nul}` }
    const product = {
      id: 1,
      title: `T${nul}`,
      handle: `h${nul}`,
      vendor: nul,
      product_type: `P${nul}P`,
      tags: [`a${nul}b`, nul],
      body_html: `<p>a${nul}b &#0;</p>`,
      images: [{ src: address, variant_ids: [2] }],
      variants: [{ ...variant, featured_image: { src: address } }]
    }
    const { images, products, variants } = readShopifyProducts(JSON.stringify({ products: [product] })).batch
    assert.deepStrictEqual(images, [])
    expectNoControls({ products, variants })
    const collection = { id: 1, title: `C${nul}`, handle: `c${nul}`, description: `d${nul}d`, image: { src: address } }
    expectNoControls(readCollections(JSON.stringify({ collections: [collection] })).batch.collections)
  })

  it("is in no row of a page of WooCommerce", () => {
    const prices = { price: "100", regular_price: "100", currency_code: "EUR", currency_minor_unit: 2 }
    const named = [{ name: `N${nul}N` }]
    const texts = { name: `W${nul}`, slug: `s${nul}%00`, sku: `1${nul}`, description: `d${nul}&#0;d` }
    const product = { id: 1, ...texts, prices, tags: named, brands: named, images: [{ src: address }] }
    const { images, products, variants } = readWooCommerceProducts(JSON.stringify([product])).batch
    assert.deepStrictEqual(images, [])
    expectNoControls({ products, variants })
  })

  it("is in no row of a product export", async () => {
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
    assert.deepStrictEqual(images, [])
    expectNoControls({ products, rows, variants })
  })

  it("is in no row of a feed for Google", async () => {
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
    assert.deepStrictEqual(images, [])
    expectNoControls({ products, rows, variants })
  })
})
