/** Responses of a Shopify storefront for tests: products, variants and pictures, changed field by field. */
import { assert } from "@effect/vitest"
import { readShopifyProducts } from "@larder/pipelines/storefronts/decode/json/shopify-json.ts"
import { UnexpectedResponse } from "@larder/pipelines/storefronts/decode/responses.ts"

export type Fields = Readonly<Record<string, unknown>>

/** The value of `updated_at` where it is the time of the response. */
export const responseTime = "2026-03-02T10:00:00+01:00"

export const aVariant = (fields: Fields = {}) => ({
  id: 44_000_000_000_001,
  title: "Default Title",
  option1: "Default Title",
  option2: null,
  option3: null,
  sku: "",
  requires_shipping: true,
  taxable: true,
  featured_image: null,
  available: true,
  price: "12.50",
  grams: 0,
  compare_at_price: null,
  position: 1,
  product_id: 8_100_000_000_001,
  created_at: "2026-01-01T09:00:00+01:00",
  updated_at: responseTime,
  ...fields
})

export const anImage = (fields: Fields = {}) => ({
  id: 33_000_000_000_001,
  created_at: "2026-01-01T09:00:00+01:00",
  position: 1,
  updated_at: "2026-01-01T09:00:00+01:00",
  product_id: 8_100_000_000_001,
  variant_ids: [],
  src: "https://cdn.example.com/files/jar.jpg?v=17",
  width: 1200,
  height: 800,
  ...fields
})

export const aProduct = (fields: Fields = {}) => ({
  id: 8_100_000_000_001,
  title: "Quince jelly",
  handle: "quince-jelly",
  body_html: "<p>Set &amp; clear.</p>",
  published_at: "2026-01-02T10:00:00+05:30",
  created_at: "2026-01-01T09:00:00+01:00",
  updated_at: responseTime,
  vendor: "Hill Orchard ",
  product_type: "",
  tags: ["jam", "jam", " winter "],
  variants: [aVariant()],
  images: [anImage()],
  options: [{ name: "Title", position: 1, values: ["Default Title"] }],
  ...fields
})

export const pageOf = (...products: ReadonlyArray<unknown>) => JSON.stringify({ products })
export const read = (...products: ReadonlyArray<unknown>) => readShopifyProducts(pageOf(...products)).batch

/** The kind of an unexpected response, and the problem with it. */
export const describeRejection = (attempt: () => unknown) => {
  try {
    attempt()
  } catch (error) {
    if (error instanceof UnexpectedResponse) return { kind: error.kind, problem: error.problem }
    throw error
  }
  return assert.fail("the response was accepted")
}
