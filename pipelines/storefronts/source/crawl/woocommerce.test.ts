import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, range, readShop } from "@larder/test/support/pipelines/store-host.ts"
import { Effect } from "effect"

const store = { kind: "woocommerce" } as const
const totals = (total: number) => ({ "x-wp-total": `${total}`, "x-wp-totalpages": `${Math.ceil(total / 100)}` })

describe("a WooCommerce store", () => {
  it.live("is read to its first empty page, in the currency that its prices name", () =>
    Effect.gen(function* () {
      const shop = { pages: [range(1, 100), range(101, 150)], headers: totals(150) }
      const { requests, products, read } = yield* readShop(shop, undefined, { store })
      assert.deepStrictEqual([read.outcome, read.currency, products.length], ["complete", "EUR", 150])
      assert.strictEqual(read.facts.reported_product_count, 150)
      assert.deepStrictEqual(requests, [
        "/robots.txt",
        "/wp-json/wc/store/v1/products?per_page=100&page=1",
        "/wp-json/wc/store/v1/products?per_page=100&page=2",
        "/wp-json/wc/store/v1/products?per_page=100&page=3"
      ])
    })
  )

  it.live("is read beyond the number of pages that it states", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [range(1, 100), [101]], headers: totals(100) }, undefined, { store })
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 101])
    })
  )

  it.live("is read one page further while it states more products", () =>
    Effect.gen(function* () {
      const shop = { pages: [range(1, 90), [], range(91, 95)], headers: totals(95) }
      const { read } = yield* readShop(shop, undefined, { store })
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 95])
    })
  )

  it.live("is partial when its count changes during the read", () =>
    Effect.gen(function* () {
      const counting: Misbehaviour = ({ page, response }) => {
        response.setHeader("x-wp-total", page === 1 ? "151" : "150")
        return false
      }
      const { read } = yield* readShop({ pages: [range(1, 100), range(101, 150)] }, counting, { store })
      assert.deepStrictEqual([read.outcome, read.fetch_status, read.products_read], ["moved", "partial", 150])
    })
  )

  it.live.each([
    ["complete when it reports 0 products", totals(0), "complete"],
    ["headless when it reports 5 products", totals(5), "headless"],
    ["empty when it reports no number", {}, "empty"]
  ] as const)("with an empty first page is recorded as %s", ([, headers, outcome]) =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [], headers }, undefined, { store })
      assert.strictEqual(read.outcome, outcome)
    })
  )

  it.live("can be listed with the address of its API", () =>
    Effect.gen(function* () {
      const path = "/wp-json/wc/store/v1/products"
      const { read } = yield* readShop({ pages: [[1]] }, undefined, { store, path })
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 1])
    })
  )
})
