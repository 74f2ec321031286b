import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, readShop, startShop } from "@larder/test/support/pipelines/store-host.ts"
import { startUpstream, type Upstream } from "@larder/test/support/pipelines/upstream.ts"
import { Effect } from "effect"
import { storePolicy } from "./policy.ts"

const shop = { pages: [[1, 2]], collections: { all: [[1]] } }
const rules = (...lines: ReadonlyArray<string>) => lines.join("\n")

const onRobots =
  (answer: (response: Parameters<Misbehaviour>[0]["response"], n: number) => void): Misbehaviour =>
  ({ n, path, response }) => {
    if (path !== "/robots.txt") return false
    answer(response, n)
    return true
  }

describe("a robots.txt", () => {
  it.live("ends the read before products are requested when it forbids them", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /products.json")
      const { asked, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["forbidden", "failed"])
      assert.deepStrictEqual(asked, ["/robots.txt", "/meta.json"])
      assert.match(read.detail ?? "", /robots\.txt forbids \/products\.json\?limit=250&page=1\)\.$/)
    })
  )

  it.live("leaves the products readable when it forbids meta.json and collections", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /meta.json", "Disallow: /collections")
      const { asked, products, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["broken_off", "partial", 2])
      assert.notInclude(asked.join(), "meta.json")
      assert.notInclude(asked.join(), "collections")
    })
  )

  it.live("is obeyed in its rules for our name, not in those for all", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /", "", "User-agent: larder", "Disallow: /cart")
      const { read } = yield* readShop({ ...shop, robots })
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("allows all requests when it is the default one of Shopify", () =>
    Effect.gen(function* () {
      const robots = rules(
        "User-agent: *",
        "Disallow: /cart",
        "Disallow: /search",
        "Disallow: /recommendations/products",
        "Disallow: /policies/",
        "Disallow: /collections/*sort_by*",
        "Disallow: /*/collections/*sort_by*"
      )
      const { read } = yield* readShop({ ...shop, robots })
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("is requested once", () =>
    Effect.gen(function* () {
      const { asked } = yield* readShop({ ...shop, robots: rules("User-agent: *", "Disallow:") })
      assert.lengthOf(
        asked.filter((url) => url === "/robots.txt"),
        1
      )
    })
  )

  it.live.each([401, 403, 404, 410])("allows everything when it is answered with %i", (status) =>
    Effect.gen(function* () {
      const { read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("is obeyed when it comes after two failures", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop(
        shop,
        onRobots((response, n) => response.writeHead(n < 3 ? 500 : 200).end("User-agent: *\nDisallow: /"))
      )
      assert.strictEqual(read.outcome, "forbidden")
    })
  )

  it.live.each([
    ["with 500", 500, "unreachable"],
    ["with 429", 429, "throttled"]
  ] as const)("prevents every other request when it is always answered %s", ([, status, outcome]) =>
    Effect.gen(function* () {
      const { asked, read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, outcome)
      assert.deepStrictEqual([...new Set(asked)], ["/robots.txt"])
    })
  )

  it.live("forbids everything when it is far too long", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ ...shop, robots: "# nothing\n".repeat(1000) })
      assert.strictEqual(read.outcome, "forbidden")
    })
  )

  it.live("is obeyed at its maximum length, and forbids everything one byte above it", () =>
    Effect.gen(function* () {
      const policy = { longestRobots: 200 }
      const robots = rules("User-agent: *", "Disallow: /collections", "#").padEnd(200, "#")
      const heeded = yield* readShop({ ...shop, robots }, undefined, { policy })
      const refused = yield* readShop({ ...shop, robots: `${robots}#` }, undefined, { policy })
      assert.deepStrictEqual([heeded.read.outcome, heeded.products.length], ["broken_off", 2])
      assert.notInclude(heeded.asked.join(), "collections")
      assert.deepStrictEqual([refused.read.outcome, [...new Set(refused.asked)]], ["forbidden", ["/robots.txt"]])
      assert.match(refused.read.detail ?? "", /robots\.txt: more than 200 bytes/)
      assert.strictEqual(storePolicy.longestRobots, 524_288)
    })
  )

  it.live("can slow requests down only up to our own limit", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Crawl-delay: 10")
      const policy = { longestDelay: "20 millis", budget: "30 seconds" } as const
      const { asked, read } = yield* readShop({ ...shop, robots }, undefined, { policy })
      assert.strictEqual(read.outcome, "complete")
      assert.isAbove(asked.length, 5)
    })
  )
})

/** Redirects pages of products. */
const redirecting =
  (to: (page: number) => string): Misbehaviour =>
  ({ page, path, response }) => {
    if (path !== "/products.json") return false
    response.writeHead(302, { location: to(page) }).end()
    return true
  }
const asked = ({ seen }: Pick<Upstream, "seen">) => seen.map(({ url }) => url)

describe("the robots.txt of a redirect's target", () => {
  it.live("is read before any other request there, and can forbid it", () =>
    Effect.gen(function* () {
      const other = yield* startUpstream((response, _, { url }) =>
        response.end(url === "/robots.txt" ? "User-agent: *\nDisallow: /products.json" : '{"products":[{"id":1}]}')
      )
      const away = redirecting(() => `${other.url}/products.json?key=abc`)
      const { batches, read } = yield* readShop(shop, away)
      assert.deepStrictEqual([read.outcome, batches.length], ["forbidden", 0])
      assert.strictEqual(
        read.detail,
        `The robots.txt of the store forbids to read this (${other.url}/robots.txt forbids /products.json).`
      )
      assert.deepStrictEqual(asked(other), ["/robots.txt"])
    }).pipe(Effect.scoped)
  )

  it.live("is requested once, and lets the products be read", () =>
    Effect.gen(function* () {
      const other = yield* startShop({ ...shop, robots: rules("User-agent: *", "Disallow: /cart") })
      const away = redirecting((page) => `${other.url}/products.json?page=${page}`)
      const { products, read } = yield* readShop(shop, away)
      assert.deepStrictEqual([read.outcome, products], ["complete", ["1", "2"]])
      assert.deepStrictEqual(asked(other), ["/robots.txt", "/products.json?page=1", "/products.json?page=2"])
    }).pipe(Effect.scoped)
  )

  it.live("is obeyed for each host on the way", () =>
    Effect.gen(function* () {
      const end = yield* startShop(shop)
      const between = yield* startUpstream((response, _, { url }) =>
        url === "/robots.txt"
          ? response.end("User-agent: *\nDisallow: /products")
          : response.writeHead(302, { location: end.url + url }).end()
      )
      const away = redirecting(() => `${between.url}/products.json`)
      const { read } = yield* readShop(shop, away)
      assert.strictEqual(read.outcome, "forbidden")
      assert.deepStrictEqual([asked(between), asked(end)], [["/robots.txt"], []])
    }).pipe(Effect.scoped)
  )

  it.live("is obeyed on the same host, too", () =>
    Effect.gen(function* () {
      const away = redirecting(() => "/feed/products.json")
      const robots = rules("User-agent: *", "Disallow: /feed/")
      const { asked: seen, read } = yield* readShop({ ...shop, robots }, away)
      assert.strictEqual(read.outcome, "forbidden")
      assert.notInclude(seen.join(), "/feed/")
    })
  )

  it.live("prevents every other request there when it cannot be read", () =>
    Effect.gen(function* () {
      const other = yield* startUpstream((response) => response.writeHead(500).end())
      const away = redirecting(() => `${other.url}/products.json`)
      const { read } = yield* readShop(shop, away)
      assert.strictEqual(read.outcome, "unreachable")
      assert.deepStrictEqual([...new Set(asked(other))], ["/robots.txt"])
    }).pipe(Effect.scoped)
  )
})
