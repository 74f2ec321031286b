import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, range, readShop } from "@larder/test/support/pipelines/store-host.ts"
import { Effect } from "effect"

const meta = {
  id: 1,
  name: "Shop",
  country: "NO",
  currency: "USD",
  domain: "shop.example",
  url: "https://shop.example"
}

describe("pages of products", () => {
  it.live("continue after short pages in the middle", () =>
    Effect.gen(function* () {
      const pages = [range(1, 250), range(251, 495), range(496, 745), range(746, 748)]
      const { requests, products, read } = yield* readShop({ pages })
      assert.deepStrictEqual([read.outcome, read.products_read, products.length], ["complete", 748, 748])
      assert.deepStrictEqual(
        requests.filter((url) => url.startsWith("/products")),
        [1, 2, 3, 4, 5].map((page) => `/products.json?limit=250&page=${page}`)
      )
    })
  )

  it.live("continue after an empty page that follows a full one", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [range(1, 250), [], range(251, 262)] })
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 262])
    })
  )

  it.live("continue after an empty page if the shop reports more products", () =>
    Effect.gen(function* () {
      const shop = { pages: [range(1, 10), [], [11, 12]], meta: { ...meta, published_products_count: 12 } }
      const { requests, read } = yield* readShop(shop)
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 12])
      assert.lengthOf(
        requests.filter((url) => url.startsWith("/products.json")),
        4
      )
    })
  )

  it.live("make the read partial when they overlap, because a product may have been missed", () =>
    Effect.gen(function* () {
      const { products, read } = yield* readShop({ pages: [range(1, 250), range(250, 300)] })
      assert.deepStrictEqual([read.outcome, read.fetch_status, read.products_read], ["moved", "partial", 300])
      assert.lengthOf(products, 300)
      assert.include(read.detail ?? "", "(1 were on two pages).")
    })
  )

  it.live("end the read as broken off when they are all the same", () =>
    Effect.gen(function* () {
      const { requests, read } = yield* readShop({ pages: Array.from({ length: 50 }, () => range(1, 250)) })
      assert.deepStrictEqual([read.outcome, read.products_read], ["broken_off", 250])
      assert.lengthOf(
        requests.filter((url) => url.startsWith("/products.json")),
        2
      )
    })
  )

  it.live("end the read as broken off when they repeat in a cycle", () =>
    Effect.gen(function* () {
      const pages = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? range(1, 250) : range(251, 500)))
      const { read } = yield* readShop({ pages })
      assert.deepStrictEqual([read.outcome, read.products_read], ["broken_off", 500])
    })
  )

  it.live("reject each unusable product separately", () =>
    Effect.gen(function* () {
      const broken: Misbehaviour = ({ page, path, response }) => {
        if (path !== "/products.json" || page > 1) return false
        response.end(JSON.stringify({ products: [{ id: 1 }, { id: 2, title: "Fine", variants: [] }] }))
        return true
      }
      const { batches, read } = yield* readShop({ pages: [] }, broken)
      assert.deepStrictEqual([read.outcome, read.products_read], ["complete", 2])
      assert.lengthOf(
        batches.flatMap(({ rejects }) => rejects),
        1
      )
    })
  )
})

describe("the limit of paging", () => {
  const limitPaging =
    (status: number, body: unknown): Misbehaviour =>
    ({ page, path, response }) => {
      if (path !== "/products.json" || page < 3) return false
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
      return true
    }
  const errors = "Page * Limit exceeds the 25000 limit."

  it.live.each([
    ["status 400", 400, { errors }],
    ["status 200 and errors", 200, { errors: { page: [errors] } }]
  ] as const)("ends the read if the response has %s, and keeps the products read before", ([, status, body]) =>
    Effect.gen(function* () {
      const collections = { all: [range(1, 250)] }
      const { products, read } = yield* readShop(
        { pages: [range(1, 250), range(251, 500)], collections },
        limitPaging(status, body)
      )
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["window", "partial", 500])
      assert.strictEqual(read.collections_read, 1)
      assert.include(read.detail ?? "", "exceeds the 25000 limit")
    })
  )

  it.live("fails the read as unreadable on the first page", () =>
    Effect.gen(function* () {
      const first: Misbehaviour = ({ path, response }) => {
        if (path !== "/products.json") return false
        response.writeHead(400).end(JSON.stringify({ errors }))
        return true
      }
      const { read } = yield* readShop({ pages: [] }, first)
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["unreadable", "failed"])
    })
  )
})

describe("a shop whose first page is empty", () => {
  it.live.each([
    ["is complete when it reports 0 products", 0, "complete", "complete"],
    ["fails as headless when it reports 62 products", 62, "headless", "failed"],
    ["fails as empty when it reports no number", undefined, "empty", "failed"]
  ] as const)("%s", ([, published_products_count, outcome, fetch_status]) =>
    Effect.gen(function* () {
      const { batches, read } = yield* readShop({ pages: [], meta: { ...meta, published_products_count } })
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, fetch_status])
      assert.strictEqual(read.has_all_products, outcome === "complete") // otherwise all known products would be withdrawn
      assert.lengthOf(batches, 0)
    })
  )
})

describe("the currency of a shop's prices", () => {
  const shop = (set: ReadonlyArray<string>) => ({ pages: [[1]], meta, headers: { "set-cookie": set.join(", ") } })

  it.live("is in the cookie of the same response", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop(shop(["cart_currency=NOK; path=/; SameSite=Lax"]), undefined, {
        store: { currency: "EUR" }
      })
      assert.strictEqual(read.currency, "NOK")
    })
  )

  it.live("is that of meta.json if there is no cookie, then that of the list, otherwise unknown", () =>
    Effect.gen(function* () {
      const store = { currency: "EUR" }
      const stated = yield* readShop({ pages: [[1]], meta }, undefined, { store })
      const listed = yield* readShop({ pages: [[1]] }, undefined, { store })
      const unknown = yield* readShop({ pages: [[1]] })
      assert.deepStrictEqual([stated.read.currency, listed.read.currency, unknown.read.currency], ["USD", "EUR", null])
      assert.strictEqual(stated.read.currency_conflict, "its prices are in USD, and the store list states EUR")
      assert.isNull(listed.read.currency_conflict)
    })
  )

  it.live("is stored with the variants of a page in another currency", () =>
    Effect.gen(function* () {
      const second: Misbehaviour = ({ page, path, response }) => {
        if (path === "/products.json") response.setHeader("set-cookie", `cart_currency=${page === 1 ? "NOK" : "SEK"}`)
        return false
      }
      const { batches, read } = yield* readShop({ pages: [[1], [2]], meta }, second)
      const currencies = batches.flatMap(({ variants }) => variants.map(({ currency }) => currency))
      assert.deepStrictEqual([read.currency, currencies], ["NOK", [null, "SEK"]])
    })
  )

  it.live.each([
    ["before", ["", "NOK", "SEK", ""]],
    ["after", ["NOK", "SEK", "", ""]]
  ] as const)("is taken from the first page that names one, and applies to pages %s it that name none", ([, named]) =>
    Effect.gen(function* () {
      const setCurrency: Misbehaviour = ({ page, path, response }) => {
        const currency = path === "/products.json" ? named[page - 1] : undefined
        if (currency) response.setHeader("set-cookie", `cart_currency=${currency}`)
        return false
      }
      const { batches, read } = yield* readShop({ pages: [[1], [2], [3], [4]], meta }, setCurrency, {
        store: { currency: "EUR" }
      })
      const currencies = batches.flatMap(({ variants }) => variants.map(({ currency }) => currency))
      const stated = named.map((currency) => (currency === "SEK" ? currency : null))
      assert.deepStrictEqual([read.currency, currencies], ["NOK", stated])
    })
  )

  it.live("is requested with the country of the list, or else of the shop", () =>
    Effect.gen(function* () {
      const listed = yield* readShop({ pages: [[1]], meta }, undefined, { store: { country: "SE" } })
      const stated = yield* readShop({ pages: [[1]], meta })
      assert.include(listed.requests, "/products.json?limit=250&page=1&country=SE")
      assert.include(stated.requests, "/products.json?limit=250&page=1&country=NO")
    })
  )
})

describe("collections", () => {
  it.live("have the listed members in the shop's order, over all pages, with non-ASCII handles", () =>
    Effect.gen(function* () {
      const collections = { "grød-og-brød": [[3, 1], [2]], empty: [] }
      const { batches, read } = yield* readShop({ pages: [[1, 2, 3]], collections })
      const members = batches.flatMap((batch) => batch.members)
      assert.deepStrictEqual([read.outcome, read.collections_read], ["complete", 2])
      assert.deepStrictEqual(
        members.map(({ position, product_native_id }) => [product_native_id, position]),
        [
          ["3", 1],
          ["1", 2],
          ["2", 3]
        ]
      )
    })
  )

  it.live("are requested page by page only while they seem to have more", () =>
    Effect.gen(function* () {
      const collections = { exact: [[1, 2]], more: [[1]], empty: [], full: [range(1, 250)] }
      const { requests, read } = yield* readShop({ pages: [[1, 2]], collections, products_count: 2 })
      assert.strictEqual(read.outcome, "complete")
      assert.deepStrictEqual(
        requests.flatMap((url) => /^\/collections\/(\w+).*page=(\d)/.exec(url)?.slice(1).join(" ") ?? []),
        ["exact 1", "more 1", "more 2", "empty 1", "full 1", "full 2", "full 3"]
      )
    })
  )

  it.live("make the read partial when they cannot be read, and leave the products as they are", () =>
    Effect.gen(function* () {
      const broken: Misbehaviour = ({ path, response }) => {
        if (!path.startsWith("/collections/")) return false
        response.writeHead(500).end()
        return true
      }
      const { products, read } = yield* readShop({ pages: [[1, 2]], collections: { all: [[1]] } }, broken)
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["broken_off", "partial", 2])
      assert.include(read.detail ?? "", "its collections: members of all: ")
    })
  )

  it.live("make the read partial when all are empty although the shop has products", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [[1, 2]], collections: { a: [], b: [], c: [] } })
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["broken_off", "partial"])
    })
  )
})

describe("the facts that a shop states about itself", () => {
  it.live("are recorded with the read", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [[1]], meta: { ...meta, published_products_count: 1 } })
      assert.deepInclude(read.facts, { name: "Shop", country: "NO", platform_shop_id: "1", reported_product_count: 1 })
    })
  )

  it.live("are null if meta.json fails, and the products are still read", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ pages: [[1]] })
      assert.deepStrictEqual([read.outcome, read.facts.name], ["complete", null])
    })
  )
})

describe("the location of a shop", () => {
  it.live.each([
    ["/", "/meta.json"],
    ["/products.json?limit=30", "/meta.json"],
    ["/en", "/en/meta.json"],
    ["/en/products.json", "/en/meta.json"]
  ] as const)("%s leads to %s", ([path, expected]) =>
    Effect.gen(function* () {
      const { requests } = yield* readShop({ pages: [[1]], meta }, undefined, { path })
      assert.deepStrictEqual(requests.slice(0, 2), ["/robots.txt", expected])
    })
  )
})
