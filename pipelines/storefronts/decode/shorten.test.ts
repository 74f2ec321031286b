import { assert, describe, it } from "@effect/vitest"
import type { Batch, FeedProduct } from "./feed.ts"
import { readShopifyProducts as readShopify } from "./json/shopify-json.ts"
import { shortenTexts } from "./shorten.ts"

const batchOf = (product: Readonly<Record<string, unknown>>): Batch =>
  readShopify(
    JSON.stringify({ products: [{ id: 7, title: "Jam", variants: [{ id: 71, price: "1.00" }], ...product }] })
  ).batch
const productOf = (product: Readonly<Record<string, unknown>>) => {
  const { batch, truncations } = shortenTexts(batchOf(product))
  return { product: batch.products[0], variant: batch.variants[0], truncations }
}

describe("strings of a feed that are too long", () => {
  it.each([
    ["title", "title", 1000],
    ["vendor", "vendor", 1000],
    ["handle", "handle", 1000],
    ["product_type", "product_type", 2000]
  ] as const)(
    "are truncated to a limit when they are a %s, and the truncation is reported",
    (stated, field: keyof FeedProduct, maxLength) => {
      const { product, truncations } = productOf({ [stated]: `${"x".repeat(maxLength - 3)} 🧀 and more` })
      assert.strictEqual(product?.[field], `${"x".repeat(maxLength - 3)} 🧀`.slice(0, maxLength))
      assert.deepStrictEqual(
        truncations.map(({ characters, ...cut }) => [cut.native_id, cut.field, characters]),
        [["7", field, maxLength + 9]]
      )
    }
  )

  it("are not truncated within a character, and do not end with a space", () => {
    assert.strictEqual(productOf({ title: `${"x".repeat(999)}🧀` }).product?.title, "x".repeat(999))
    assert.strictEqual(productOf({ title: `${"x".repeat(999)} y` }).product?.title, "x".repeat(999))
  })

  it("are truncated in tags, which are then unique, and in SKUs and options of variants", () => {
    const long = "t".repeat(255)
    const { product, truncations, variant } = productOf({
      tags: ["fruit", `${long}1`, `${long}2`],
      variants: [{ id: 71, price: "1.00", option1: "o".repeat(1001), sku: "s".repeat(1001) }]
    })
    assert.deepStrictEqual(product?.tags, ["fruit", long])
    assert.strictEqual(variant?.option1, "o".repeat(1000))
    assert.strictEqual(variant?.sku, "s".repeat(1000))
    assert.deepStrictEqual(
      truncations.map(({ field, native_id }) => `${field} of ${native_id}`),
      ["tags of 7", "sku of 71", "option1 of 71"]
    )
  })

  it("include 300 short tags: the first 250 stay, and one truncation is reported", () => {
    const tags = Array.from({ length: 300 }, (_, i) => `tag ${i}`)
    const { product, truncations } = productOf({ tags })
    assert.deepStrictEqual(product?.tags, tags.slice(0, 250))
    assert.deepStrictEqual(
      truncations.map(({ characters, field }) => [field, characters]),
      [["tags", tags.join(", ").length]]
    )
  })

  it("leave a batch unchanged whose strings are within their limits", () => {
    const batch = batchOf({ title: "x".repeat(1000), tags: ["t".repeat(255)], body_html: "b".repeat(5000) })
    assert.strictEqual(shortenTexts(batch).batch, batch)
  })
})
