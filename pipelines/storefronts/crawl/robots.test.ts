import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startUpstream } from "../../run/upstream-for-tests.ts"
import { type Misbehaviour, readShop } from "./store-host-for-tests.ts"

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
  it.live("that forbids the products ends the read before they are asked for", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /products.json")
      const { asked, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["forbidden", "failed"])
      assert.deepStrictEqual(asked, ["/robots.txt", "/meta.json"])
      assert.match(read.detail ?? "", /robots\.txt forbids \/products\.json\?limit=250&page=1\)\.$/)
    })
  )

  it.live("that forbids what the store says of itself, or its collections, leaves the products", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /meta.json", "Disallow: /collections")
      const { asked, products, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["broken_off", "partial", 2])
      assert.notInclude(asked.join(), "meta.json")
      assert.notInclude(asked.join(), "collections")
    })
  )

  it.live("that speaks to us by name goes before what it says to all", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /", "", "User-agent: larder", "Disallow: /cart")
      const { read } = yield* readShop({ ...shop, robots })
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("that default Shopify stores have allows all that is asked", () =>
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

  it.live("is asked for once", () =>
    Effect.gen(function* () {
      const { asked } = yield* readShop({ ...shop, robots: rules("User-agent: *", "Disallow:") })
      assert.lengthOf(
        asked.filter((url) => url === "/robots.txt"),
        1
      )
    })
  )

  it.live.each([401, 403, 404, 410])("that is answered with %i allows all", (status) =>
    Effect.gen(function* () {
      const { read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("that comes after two failures is heeded", () =>
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
  ] as const)("that is always answered %s means that nothing is asked", ([, status, outcome]) =>
    Effect.gen(function* () {
      const { asked, read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, outcome)
      assert.deepStrictEqual([...new Set(asked)], ["/robots.txt"])
    })
  )

  it.live("without an end forbids", () =>
    Effect.gen(function* () {
      const { read } = yield* readShop({ ...shop, robots: "# nothing\n".repeat(1000) })
      assert.strictEqual(read.outcome, "forbidden")
    })
  )

  it.live("of the host that a redirect leads to counts, too", () =>
    Effect.gen(function* () {
      const other = yield* startUpstream((response, _, { url }) =>
        response.end(url === "/robots.txt" ? "User-agent: *\nDisallow: /products.json" : '{"products":[{"id":1}]}')
      )
      const away: Misbehaviour = ({ path, response }) => {
        if (path !== "/products.json") return false
        response.writeHead(302, { location: `${other.url}/products.json` }).end()
        return true
      }
      const { batches, read } = yield* readShop(shop, away)
      assert.strictEqual(read.outcome, "forbidden")
      assert.lengthOf(batches, 0)
    }).pipe(Effect.scoped)
  )

  it.live("may ask for time between requests, up to a limit of ours", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Crawl-delay: 10")
      const policy = { longestDelay: "20 millis", budget: "30 seconds" } as const
      const { asked, read } = yield* readShop({ ...shop, robots }, undefined, { policy })
      assert.strictEqual(read.outcome, "complete")
      assert.isAbove(asked.length, 5)
    })
  )
})
