import { assert, describe, it } from "@effect/vitest"
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
