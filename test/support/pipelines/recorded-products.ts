/** Products of recorded feeds (`../shared/samples`), read as a run reads them. */
import { createReadStream, readFileSync } from "node:fs"
import path from "node:path"
import { readShopifyCsv } from "@larder/pipelines/storefronts/decode/csv/shopify-csv.ts"
import type { FeedProduct, ReadFile } from "@larder/pipelines/storefronts/decode/feed.ts"
import { readGoogleMerchant } from "@larder/pipelines/storefronts/decode/google/google-merchant.ts"
import { readShopifyProducts } from "@larder/pipelines/storefronts/decode/json/shopify-json.ts"
import { readWooCommerceProducts } from "@larder/pipelines/storefronts/decode/json/woocommerce.ts"
import type { FeedPage } from "@larder/pipelines/storefronts/decode/page.ts"
import { samplesOf } from "../shared-samples.ts"

const folder = samplesOf("storefront")

/** The first row of each product: items of a Google feed may be variants of one product, and the first one describes it. */
const firstOfEach = (products: ReadonlyArray<FeedProduct>) => {
  const byId = new Map<string, FeedProduct>()
  for (const product of products) {
    if (product.is_published && !byId.has(product.native_id)) byId.set(product.native_id, product)
  }
  return byId
}

const file = (read: ReadFile, name: string) => async () => {
  const found: Array<FeedProduct> = []
  for await (const { products } of read(() => createReadStream(path.join(folder, name)), { currency: null })) {
    found.push(...products)
  }
  return firstOfEach(found)
}
const shopifyCsv = (name: string) => file(readShopifyCsv, `shopify-csv/${name}.csv`)
const merchant = (name: string) => file(readGoogleMerchant, `google-merchant/${name}`)

const pages =
  (read: (text: string) => FeedPage, ...names: ReadonlyArray<string>) =>
  async () =>
    firstOfEach(names.flatMap((name) => read(readFileSync(path.join(folder, name), "utf8")).batch.products))
const shopify = (...names: ReadonlyArray<string>) =>
  pages(readShopifyProducts, ...names.map((name) => `shopify-json/${name}.json`))

/** The published products of a store by the feed's id. */
export const sampleStores: Readonly<Record<string, () => Promise<ReadonlyMap<string, FeedProduct>>>> = {
  akarshk: shopify("akarshk-max--products_raw"),
  apparel: shopifyCsv("shopifypartners--apparel"),
  balancedbites: shopifyCsv("balancedbitesdev--balanced_bites_shopify_import_ready"),
  barisugus: merchant("barisugus--merchant-feed.xml"),
  basarabia: shopifyCsv("basarabiastore-max--products_export_1"),
  daraghoshea: shopify("daraghoshea--products"),
  davidan: shopify("davidan--davidan_md_products.TRIMMED3"),
  elsewedy: shopify(
    "muhammadbayoumi--elsewedyshop_products_page1_live",
    "muhammadbayoumi--elsewedyshop_products_page4_live"
  ),
  garyjackson: shopifyCsv("garyjacksonwork--products_export_1"),
  "home-and-garden": shopifyCsv("shopifypartners--home-and-garden"),
  jewelery: shopifyCsv("shopifypartners--jewelery"),
  "kevin-ecometrics": shopifyCsv("kevin-ecometrics--products_export_1"),
  london1702: shopify("1702london-maker--shopify-products"),
  m5zoon: merchant("m5zoon--google_merchant_feed_en.tsv"),
  madhavasrinivasan: shopify("madhavasrinivasan--shopify_products"),
  mattosrodrigo: merchant("mattosrodrigo--merchant-feed.xml"),
  mintpixels: shopifyCsv("mintpixels--products_export_1"),
  samehgabriel: pages(
    readWooCommerceProducts,
    "woocommerce/muhammadbayoumi--samehgabriel_wc_store_products_2026-07-20.json"
  ),
  "sooq-alemarat": merchant("sooq-alemarat--google-merchant-feed.xml"),
  "sooq-masr": merchant("sooq-masr--google-merchant-feed.xml"),
  taras2121212: merchant("taras2121212-source--google-merchant-feed.xml"),
  velofant: merchant("velofant--Produkter_Prisjakt26_XMl.txt"),
  yadayadasoftware: shopifyCsv("yadayadasoftware--shopify_sample_product_template")
}
