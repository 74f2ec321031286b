/** Compares recorded pages of shops with counts that are independent of the readers. */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { assert, it } from "@effect/vitest"
import { readMeta, readShopifyProducts } from "@larder/pipelines/storefronts/decode/json/shopify-json.ts"
import { readWooCommerceProducts } from "@larder/pipelines/storefronts/decode/json/woocommerce.ts"
import { describeSamples, samplesOf } from "../support/shared-samples.ts"

const samples = samplesOf("storefront")
const sample = (name: string) => readFileSync(path.join(samples, name), "utf8")
const shopify = (name: string) => sample(`shopify-json/${name}.json`)

interface Listed {
  readonly id: number
  readonly title: string
  readonly variants: ReadonlyArray<{
    readonly price: string
    readonly compare_at_price: string | null
    readonly sku: string | null
    readonly option1: string | null
  }>
  readonly images: ReadonlyArray<unknown>
}
const listedIn = (text: string): ReadonlyArray<Listed> => JSON.parse(text).products

const pages = [
  ["madhavasrinivasan--shopify_products", 250, 406, 634],
  ["akarshk-max--products_raw", 9, 38, 57],
  ["daraghoshea--products", 17, 17, 29],
  ["muhammadbayoumi--elsewedyshop_products_page1_live", 4, 9, 4],
  ["muhammadbayoumi--elsewedyshop_products_en_page1_2026-07-23", 4, 9, 4],
  ["muhammadbayoumi--elsewedyshop_products_page4_live", 3, 18, 18],
  ["1702london-maker--shopify-products", 1, 12, 1],
  ["davidan--davidan_md_products.TRIMMED3", 3, 4, 1]
] as const

const testShopifyPages = () => {
  it.each(pages)(
    "match an independent count: %s has %i products, %i variants, %i pictures",
    (name, products, variants, images) => {
      const text = shopify(name)
      const { batch, ids } = readShopifyProducts(text)
      const listed = listedIn(text)
      assert.deepStrictEqual([listed.length, listed.flatMap((p) => p.variants).length], [products, variants])
      assert.deepStrictEqual(
        [batch.products.length, batch.variants.length, batch.images.length, batch.rejects.length],
        [products, variants, images, 0]
      )
      assert.deepStrictEqual(
        ids,
        listed.map((product) => String(product.id))
      )
      assert.deepStrictEqual(
        batch.variants.map(({ price }) => Number(price)),
        listed.flatMap((product) => product.variants.map(({ price }) => Number(price)))
      )
    }
  )

  it("include every file of the folder shopify-json", () => {
    const names = readdirSync(path.join(samples, "shopify-json")).filter((name) => !name.includes("meta"))
    assert.sameMembers(
      names,
      pages.map(([name]) => `${name}.json`)
    )
  })

  it("keep 302 of 338 former prices, no placeholder option and no empty sku", () => {
    const text = shopify("madhavasrinivasan--shopify_products")
    const listed = listedIn(text).flatMap((product) => product.variants)
    const { variants } = readShopifyProducts(text).batch
    const former = listed.filter((variant) => variant.compare_at_price !== null)
    const above = former.filter((variant) => Number(variant.compare_at_price) > Number(variant.price))
    assert.deepStrictEqual([former.length, above.length], [338, 302])
    assert.strictEqual(variants.filter((variant) => variant.compare_at_price !== null).length, 302)
    assert.strictEqual(listed.filter((variant) => variant.option1 === "Default Title").length, 163)
    assert.strictEqual(variants.filter((variant) => variant.option1 === null).length, 163)
    assert.deepStrictEqual(
      [null, ""].map((sku) => listed.filter((variant) => variant.sku === sku).length),
      [397, 9]
    )
    assert.isTrue(variants.every((variant) => variant.sku === null && variant.currency === null))
  })

  it("give the same products when only updated_at is different", () => {
    const text = shopify("madhavasrinivasan--shopify_products")
    const second = /"updated_at":"([^"]+)"/.exec(text)?.[1] ?? assert.fail()
    const later = text.replaceAll(`"updated_at":"${second}"`, '"updated_at":"2026-12-24T18:00:00+05:30"')
    assert.notStrictEqual(later, text)
    assert.deepStrictEqual(readShopifyProducts(later), readShopifyProducts(text))
  })

  it("give the same ids in both languages of a shop", () => {
    const [arabic, english] = pages.slice(3, 5).map(([name]) => readShopifyProducts(shopify(name)).batch)
    assert.sameMembers([...(arabic?.rows ?? [])], [...(english?.rows ?? [])])
    assert.lengthOf(arabic?.rows ?? [], 4)
    assert.notDeepEqual(
      arabic?.products.map(({ title }) => title),
      english?.products.map(({ title }) => title)
    )
  })

  it("give texts without markup, vendors with an apostrophe, and equal times despite two UTC offsets", () => {
    const text = shopify("daraghoshea--products")
    const { products } = readShopifyProducts(text).batch
    assert.isTrue(products.every(({ body_text }) => !/\\u003c|\\\/|<\/?[a-z]|&[a-z]+;/.test(body_text ?? "")))
    assert.isTrue(products.some(({ vendor }) => vendor === "Annie's Organic Farm"))
    const published: ReadonlyArray<string> = JSON.parse(text).products.map(
      (p: { published_at: string }) => p.published_at
    )
    assert.isAbove(new Set(published.map((time) => time.slice(19))).size, 1)
    assert.deepStrictEqual(
      products.map((product) => Date.parse(product.published_at ?? "")),
      published.map((time) => Date.parse(time))
    )
  })

  it("give name, currency, country, city and counts from the shop's meta.json", () => {
    const meta = readMeta(shopify("davidan--meta"))
    assert.deepStrictEqual(
      [meta.platform_shop_id, meta.name, meta.currency, meta.country, meta.city, meta.published_products_count],
      ["58027770028", "DaviDan Bakery", "MDL", "RO", "Chișinău", 62]
    )
    assert.deepStrictEqual([meta.description, meta.published_collections_count], [null, 4])
  })
}

interface WooListed {
  readonly prices: { readonly price: string; readonly regular_price: string }
  readonly images: ReadonlyArray<unknown>
  readonly is_in_stock: boolean
}

const testWooCommercePage = () => {
  const text = sample("woocommerce/muhammadbayoumi--samehgabriel_wc_store_products_2026-07-20.json")
  const listed: ReadonlyArray<WooListed> = JSON.parse(text)
  const { batch } = readWooCommerceProducts(text)

  it("gives 18 products with one variant each", () => {
    assert.deepStrictEqual(
      [listed.length, batch.products.length, batch.variants.length, batch.rejects.length],
      [18, 18, 18, 0]
    )
    assert.strictEqual(batch.images.length, listed.flatMap((product) => product.images).length)
  })

  it("gives 277666 as 2776.66 EGP, and every price in hundredths", () => {
    const [first] = batch.variants
    assert.deepStrictEqual([first?.price, first?.compare_at_price, first?.currency], ["2776.66", "2985.66", "EGP"])
    assert.deepStrictEqual(
      batch.variants.map((variant) => Math.round(Number(variant.price) * 100)),
      listed.map(({ prices }) => Number(prices.price))
    )
    assert.deepStrictEqual(
      batch.variants.map(({ available }) => available),
      listed.map(({ is_in_stock }) => is_in_stock)
    )
  })

  it("gives handles without percent-encoding", () => {
    assert.isTrue(batch.products.every(({ handle }) => handle !== null && !handle.includes("%")))
  })
}

describeSamples("storefront", "recorded pages of Shopify shops", testShopifyPages)
describeSamples("storefront", "a recorded page of a WooCommerce shop", testWooCommercePage)
