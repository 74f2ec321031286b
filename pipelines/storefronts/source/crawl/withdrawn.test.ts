/**
 * Which products are withdrawn after a read. The shops have one list that changes while it is read, split into pages as
 * in real shops.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, range, readShop, type Shop } from "@larder/test/support/pipelines/store-host.ts"
import { Effect } from "effect"

const meta = { id: 1, name: "Shop" }
const woo = { kind: "woocommerce" } as const

/** Responds to the n-th request for a page of products from the list that `listedAt(n)` returns. */
const showing = (limit: number, listedAt: (n: number) => ReadonlyArray<number>, count?: number): Misbehaviour => {
  let n = 0
  let ids = listedAt(1)
  return ({ page, path, response }) => {
    if (path === "/meta.json" && count === undefined) {
      response.end(JSON.stringify({ ...meta, published_products_count: ids.length }))
      return true
    }
    if (!/^\/(wp-json\/wc\/store\/v1\/products|products\.json)$/.test(path)) return false
    n += 1
    ids = listedAt(n)
    const shown = ids.slice((page - 1) * limit, page * limit)
    const products = shown.map((id) => ({
      ...{ id, title: `Product ${id}`, name: `Product ${id}`, variants: [], prices: null }
    }))
    response.end(JSON.stringify(path.startsWith("/wp-json") ? products : { products }))
    return true
  }
}
const noCount = 0
/** After its first page was served, the product at its top is unpublished, and all others move up by one. */
const unpublishing = (n: number) => range(n === 1 ? 1 : 2, 500)

const pagesOf = (requests: ReadonlyArray<string>) =>
  requests.flatMap((url) => {
    const page = /^\/(?:products\.json|wp-json\/).*[?&]page=(\d+)/.exec(url)?.[1]
    return page === undefined ? [] : [Number(page)]
  })
const metasOf = (requests: ReadonlyArray<string>) => requests.filter((url) => url === "/meta.json").length

describe("a product that moves up onto a page that was read already", () => {
  it.live("is not withdrawn when the shop's own count changes during the read", () =>
    Effect.gen(function* () {
      const { requests, read } = yield* readShop({ pages: [] }, showing(250, unpublishing), { known: range(1, 500) })
      assert.deepStrictEqual([read.outcome, read.fetch_status, read.has_all_products], ["moved", "partial", false])
      assert.include(read.detail ?? "", "there were 500 before its pages were read, and 499 after that")
      assert.deepStrictEqual([pagesOf(requests), metasOf(requests)], [[1, 2, 3, 4], 2])
    })
  )

  it.live.each([
    ["Shopify", 250, undefined],
    ["WooCommerce", 100, woo]
  ] as const)("is found by reading the pages again if a shop on %s states no count", ([, limit, store]) =>
    Effect.gen(function* () {
      const shop = showing(limit, unpublishing, noCount)
      const { products, read } = yield* readShop({ pages: [] }, shop, { known: range(1, 500), store: store ?? {} })
      assert.deepStrictEqual([read.outcome, read.has_all_products, read.products_read], ["moved", false, 500])
      assert.sameMembers([...products], range(1, 500).map(String))
      assert.include(read.detail ?? "", "1 were found only when the pages were read again")
    })
  )

  it.live("is found even if another one was published during the read and the count is the same", () =>
    Effect.gen(function* () {
      const replaced = (n: number) => (n < 3 ? unpublishing(n) : [501, ...range(2, 500)])
      const { products, read } = yield* readShop({ pages: [] }, showing(250, replaced), { known: range(1, 500) })
      assert.deepStrictEqual([read.outcome, read.has_all_products], ["moved", false])
      assert.include(products, "251")
    })
  )

  it.live("also prevents a first read from being complete", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [] }, showing(250, unpublishing))
      assert.strictEqual(read.outcome, "moved")
    })
  )
})

describe("a product that was removed", () => {
  it.live("is withdrawn immediately if the shop reports as many as were found, before and after", () =>
    Effect.gen(function* () {
      const { requests, read } = yield* readShop(
        { pages: [] },
        showing(250, () => range(2, 300)),
        { known: range(1, 300) }
      )
      assert.deepStrictEqual([read.outcome, read.has_all_products, read.products_read], ["complete", true, 299])
      assert.deepStrictEqual([pagesOf(requests), metasOf(requests)], [[1, 2, 3], 2])
    })
  )

  it.live.each([
    ["states no count", undefined],
    ["counts more than it shows", 305]
  ] as const)("is withdrawn after the pages were read again if the shop %s", ([, published_products_count]) =>
    Effect.gen(function* () {
      const shop: Shop = { pages: [range(2, 250), range(251, 300)], meta: { ...meta, published_products_count } }
      const { requests, batches, read } = yield* readShop(shop, undefined, { known: range(1, 300) })
      assert.deepStrictEqual([read.outcome, read.has_all_products, read.products_read], ["complete", true, 299])
      const secondReading = published_products_count === undefined ? [1, 2, 3] : [1, 2, 3, 4]
      assert.deepStrictEqual(pagesOf(requests), [1, 2, 3, 4, ...secondReading])
      assert.lengthOf(
        batches.flatMap(({ rows }) => rows),
        299
      )
    })
  )

  it.live.each([
    ["refused", 403],
    ["throttled", 429],
    ["broken", 500]
  ] as const)("is not withdrawn if the second reading is %s", ([, status]) =>
    Effect.gen(function* () {
      const failLater: Misbehaviour = ({ n, path, response }) => {
        if (path !== "/products.json" || n === 1) return false
        response.writeHead(status).end()
        return true
      }
      const { read } = yield* readShop({ pages: [[2, 3]] }, failLater, { known: [1, 2, 3] })
      assert.deepStrictEqual([read.outcome, read.has_all_products, read.products_read], ["broken_off", false, 2])
      assert.include(read.detail ?? "", "its pages were read again")
    })
  )

  it.live("is not withdrawn if the pages are empty in the second reading", () =>
    Effect.gen(function* () {
      const emptied = (n: number) => (n < 4 ? [2, 3] : [])
      const { read } = yield* readShop({ pages: [] }, showing(250, emptied, noCount), { known: [1, 2, 3] })
      assert.deepStrictEqual([read.outcome, read.has_all_products], ["broken_off", false])
    })
  )
})

describe("a shop without missing products", () => {
  it.live("is requested once per page, and twice for its count if it states one", () =>
    Effect.gen(function* () {
      const shop: Shop = { pages: [range(1, 300)], meta: { ...meta, published_products_count: 310 } }
      const { requests, read } = yield* readShop(shop, undefined, { known: range(1, 300) })
      assert.strictEqual(read.outcome, "complete")
      assert.deepStrictEqual([pagesOf(requests), metasOf(requests)], [[1, 2, 3], 2])
      const withoutCount = yield* readShop({ pages: [range(1, 300)] }, undefined, { known: range(1, 300) })
      assert.deepStrictEqual([pagesOf(withoutCount.requests), metasOf(withoutCount.requests)], [[1, 2, 3], 1])
    })
  )
})

describe("an empty page", () => {
  it.live("is not the last one after a short page while known products are missing", () =>
    Effect.gen(function* () {
      const pages = [range(1, 245), [], range(246, 480)]
      const { requests, read } = yield* readShop({ pages }, undefined, { known: range(1, 480) })
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 480])
      assert.deepStrictEqual(pagesOf(requests), [1, 2, 3, 4])
    })
  )

  it.live("is not the last one when as many products are new as are missing", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [range(11, 20), [], [1]] }, undefined, { known: range(1, 10) })
      assert.strictEqual(read.products_read, 11)
    })
  )
})

describe("a WooCommerce store whose pages state a count", () => {
  it.live.each([
    ["is not read completely when its pages list fewer products", 199, "unclear", "partial"],
    ["is read completely when its pages list as many products", 100, "complete", "complete"]
  ] as const)("%s", ([, total, outcome, fetch_status]) =>
    Effect.gen(function* () {
      const shop = { pages: [range(1, 100)], headers: { "x-wp-total": `${total}` } }
      const { requests, read } = yield* readShop(shop, undefined, { store: woo, known: range(1, 199) })
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, fetch_status])
      assert.strictEqual(read.has_all_products, outcome === "complete")
      assert.deepStrictEqual(pagesOf(requests), [1, 2, 3])
      if (outcome === "unclear") assert.include(read.detail ?? "", "there are 199, and list 100")
    })
  )
})

describe("collections that cannot be read", () => {
  const shop: Shop = { pages: [[1, 2]], collections: { a: [[1]], b: [[2]], c: [[1]] } }
  const refusing =
    (status: number, ...handles: ReadonlyArray<string>): Misbehaviour =>
    ({ path, response }) => {
      if (!handles.some((handle) => path.startsWith(`/collections/${handle}/`))) return false
      response.writeHead(status).end()
      return true
    }

  it.live("do not affect the products", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop(shop, refusing(500, "b"), { known: [1, 2] })
      assert.deepStrictEqual([read.outcome, read.fetch_status, read.has_all_products], ["broken_off", "partial", true])
    })
  )

  it.live.each([404, 410])("have no members if their pages return %i, and the others are read", (status) =>
    Effect.gen(function* () {
      const { batches, read } = yield* readShop(shop, refusing(status, "b"))
      assert.deepStrictEqual([read.outcome, read.collections_read], ["complete", 3])
      const members = batches.flatMap((batch) => batch.members.map((member) => member.collection_native_id))
      assert.deepStrictEqual(members, ["900", "902"])
    })
  )

  it.live("make the read partial if none of them has members", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop(shop, refusing(404, "a", "b", "c"))
      assert.deepStrictEqual([read.outcome, read.fetch_status, read.has_all_products], ["broken_off", "partial", true])
    })
  )
})
