import { gzipSync } from "node:zlib"
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

  const beyond = "rest_post_invalid_page_number"
  const refusing =
    (status: number, code?: string): Misbehaviour =>
    ({ page, response }) => {
      if (page !== 3) return false
      response.writeHead(status).end(code === undefined ? "Not here" : JSON.stringify({ code, message: "…" }))
      return true
    }
  const full = [range(1, 100), range(101, 200)]
  const short = [range(1, 100), range(101, 150)]
  it.live.each([
    ["all reported products were found", full, totals(200), 400, undefined, "complete"],
    ["all reported products were found, and it says 404", short, totals(150), 404, "rest_no_route", "complete"],
    ["all reported products were found, and more", full, totals(199), 400, undefined, "complete"],
    ["the refusal states that the page is too high", short, {}, 400, beyond, "complete"],
    ["WooCommerce itself states so", short, {}, 404, "woocommerce_rest_invalid_page_number", "complete"],
    ["the refusal states so, but it reports more products", short, totals(151), 400, beyond, "unclear"],
    ["the refusal states so, but the page before it was full", full, {}, 400, beyond, "broken_off"],
    ["the refusal states nothing", short, {}, 400, undefined, "broken_off"],
    ["the refusal states another reason", short, {}, 400, "rest_invalid_param", "broken_off"],
    ["some reported products were not found", short, totals(151), 404, undefined, "broken_off"],
    ["it forbids the page", short, totals(150), 403, beyond, "broken_off"]
  ] as const)("that refuses the page after the last one is read when %s", ([, pages, headers, status, code, outcome]) =>
    Effect.gen(function* () {
      const { products, read } = yield* readShop({ pages, headers }, refusing(status, code), { store })
      assert.deepStrictEqual([read.outcome, products.length], [outcome, pages.flat().length], read.detail ?? "")
    })
  )

  it.live.each([
    ["all reported products were found", totals(150), "complete"],
    ["it reports none", {}, "broken_off"],
    ["it reports more", totals(151), "broken_off"]
  ] as const)("that shows an error with an empty list after the last page is read when %s", ([, headers, outcome]) =>
    Effect.gen(function* () {
      const failing: Misbehaviour = ({ page, response }) => {
        if (page !== 3) return false
        response.end("<br />\n<b>Fatal error</b>: Cannot use object as array: []<br />")
        return true
      }
      const { products, read } = yield* readShop({ pages: short, headers }, failing, { store })
      assert.deepStrictEqual([read.outcome, products.length], [outcome, 150], read.detail ?? "")
    })
  )

  it.live("fails when it refuses its first page with the code of a page that is too high", () =>
    Effect.gen(function* () {
      const first: Misbehaviour = ({ page, path, response }) => {
        if (page !== 1 || path === "/robots.txt") return false
        response.writeHead(400).end(JSON.stringify({ code: beyond }))
        return true
      }
      const { read } = yield* readShop({ pages: [[1]] }, first, { store })
      assert.strictEqual(read.outcome, "blocked")
    })
  )

  it.live("is read in the encoding of the store list, if it is not UTF-8", () =>
    Effect.gen(function* () {
      const titlesOf = (bytes: Buffer) =>
        Effect.gen(function* () {
          const serving: Misbehaviour = ({ page, path, response }) => {
            if (page !== 1 || path === "/robots.txt") return false
            response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(bytes)
            return true
          }
          const { batches } = yield* readShop({ pages: [] }, serving, { store: { ...store, encoding: "windows-1252" } })
          return batches.flatMap((batch) => batch.products.map(({ title }) => title))
        })
      const page = '[{"id":1,"name":"Café","prices":{"price":"950","currency_code":"EUR","currency_minor_unit":2}}]'
      assert.deepStrictEqual(yield* titlesOf(Buffer.from(page, "latin1")), ["Café"])
      assert.deepStrictEqual(yield* titlesOf(Buffer.from(page)), ["Café"])
    })
  )

  it.live("is named as compressed if its page does not state it, and its robots.txt then has no rules", () =>
    Effect.gen(function* () {
      const packing: Misbehaviour = ({ path, response }) => {
        response.end(gzipSync(path === "/robots.txt" ? "User-agent: *\nDisallow: /" : "[]"))
        return true
      }
      const { read } = yield* readShop({ pages: [] }, packing, { store })
      assert.strictEqual(read.outcome, "unreadable")
      assert.match(
        read.detail ?? "",
        /products\?.*: the response is compressed with gzip, and its header does not say so\)\.$/
      )
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
