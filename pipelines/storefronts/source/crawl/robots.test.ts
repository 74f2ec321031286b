import { assert, describe, it } from "@effect/vitest"
import { type Misbehaviour, readShop, startShop } from "@larder/test/support/pipelines/store-host.ts"
import { startUpstream, type Upstream } from "@larder/test/support/pipelines/upstream.ts"
import { Effect } from "effect"
import fc from "fast-check"
import { storePolicy } from "./policy.ts"
import { parseRobots } from "./robots.ts"

const shop = { pages: [[1, 2]], collections: { all: [[1]] } }
const rules = (...lines: ReadonlyArray<string>) => lines.join("\n")

const onRobots =
  (respond: (response: Parameters<Misbehaviour>[0]["response"], n: number) => void): Misbehaviour =>
  ({ n, path, response }) => {
    if (path !== "/robots.txt") return false
    respond(response, n)
    return true
  }

describe("a robots.txt", () => {
  it.live("ends the read before products are requested when it forbids them", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /products.json")
      const { requests, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["forbidden", "failed"])
      assert.deepStrictEqual(requests, ["/robots.txt", "/meta.json"])
      assert.match(read.detail ?? "", /robots\.txt forbids \/products\.json\?limit=250&page=1\)\.$/)
    })
  )

  it.live("leaves the products readable when it forbids meta.json and collections", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Disallow: /meta.json", "Disallow: /collections")
      const { requests, products, read } = yield* readShop({ ...shop, robots })
      assert.deepStrictEqual([read.outcome, read.fetch_status, products.length], ["broken_off", "partial", 2])
      assert.notInclude(requests.join(), "meta.json")
      assert.notInclude(requests.join(), "collections")
    })
  )

  it.live("applies its rules for our name, not those for all", () =>
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
      const { requests } = yield* readShop({ ...shop, robots: rules("User-agent: *", "Disallow:") })
      assert.lengthOf(
        requests.filter((url) => url === "/robots.txt"),
        1
      )
    })
  )

  it.live.each([401, 403, 404, 410])("allows everything if its status is %i", (status) =>
    Effect.gen(function* () {
      const { read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("is obeyed if it arrives after two failures", () =>
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
  ] as const)("prevents every other request if the response is always %s", ([, status, outcome]) =>
    Effect.gen(function* () {
      const { requests, read } = yield* readShop(
        shop,
        onRobots((response) => response.writeHead(status).end())
      )
      assert.strictEqual(read.outcome, outcome)
      assert.deepStrictEqual([...new Set(requests)], ["/robots.txt"])
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
      const policy = { maxRobotsBytes: 200 }
      const robots = rules("User-agent: *", "Disallow: /collections", "#").padEnd(200, "#")
      const obeyed = yield* readShop({ ...shop, robots }, undefined, { policy })
      const oversized = yield* readShop({ ...shop, robots: `${robots}#` }, undefined, { policy })
      assert.deepStrictEqual([obeyed.read.outcome, obeyed.products.length], ["broken_off", 2])
      assert.notInclude(obeyed.requests.join(), "collections")
      assert.deepStrictEqual([oversized.read.outcome, [...new Set(oversized.requests)]], ["forbidden", ["/robots.txt"]])
      assert.match(oversized.read.detail ?? "", /robots\.txt: more than 200 bytes/)
      assert.strictEqual(storePolicy.maxRobotsBytes, 524_288)
    })
  )

  it.live("can slow requests down only up to our own limit", () =>
    Effect.gen(function* () {
      const robots = rules("User-agent: *", "Crawl-delay: 10")
      const policy = { maxDelay: "20 millis", budget: "30 seconds" } as const
      const { requests, read } = yield* readShop({ ...shop, robots }, undefined, { policy })
      assert.strictEqual(read.outcome, "complete")
      assert.isAbove(requests.length, 5)
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
const listRequests = ({ requests }: Pick<Upstream, "requests">) => requests.map(({ url }) => url)

describe("the robots.txt of a redirect's target", () => {
  it.live("is read before any other request there, and can forbid it", () =>
    Effect.gen(function* () {
      const other = yield* startUpstream((response, _, { url }) =>
        response.end(url === "/robots.txt" ? "User-agent: *\nDisallow: /products.json" : '{"products":[{"id":1}]}')
      )
      const redirect = redirecting(() => `${other.url}/products.json?key=abc`)
      const { batches, read } = yield* readShop(shop, redirect)
      assert.deepStrictEqual([read.outcome, batches.length], ["forbidden", 0])
      assert.strictEqual(
        read.detail,
        `The robots.txt of the store forbids this request (${other.url}/robots.txt forbids /products.json).`
      )
      assert.deepStrictEqual(listRequests(other), ["/robots.txt"])
    }).pipe(Effect.scoped)
  )

  it.live("is requested once, and lets the products be read", () =>
    Effect.gen(function* () {
      const other = yield* startShop({ ...shop, robots: rules("User-agent: *", "Disallow: /cart") })
      const redirect = redirecting((page) => `${other.url}/products.json?page=${page}`)
      const { products, read } = yield* readShop(shop, redirect)
      assert.deepStrictEqual([read.outcome, products], ["complete", ["1", "2"]])
      assert.deepStrictEqual(listRequests(other), ["/robots.txt", "/products.json?page=1", "/products.json?page=2"])
    }).pipe(Effect.scoped)
  )

  it.live("is obeyed for each intermediate host", () =>
    Effect.gen(function* () {
      const target = yield* startShop(shop)
      const intermediate = yield* startUpstream((response, _, { url }) =>
        url === "/robots.txt"
          ? response.end("User-agent: *\nDisallow: /products")
          : response.writeHead(302, { location: target.url + url }).end()
      )
      const redirect = redirecting(() => `${intermediate.url}/products.json`)
      const { read } = yield* readShop(shop, redirect)
      assert.strictEqual(read.outcome, "forbidden")
      assert.deepStrictEqual([listRequests(intermediate), listRequests(target)], [["/robots.txt"], []])
    }).pipe(Effect.scoped)
  )

  it.live("is obeyed on the same host", () =>
    Effect.gen(function* () {
      const redirect = redirecting(() => "/feed/products.json")
      const robots = rules("User-agent: *", "Disallow: /feed/")
      const { requests, read } = yield* readShop({ ...shop, robots }, redirect)
      assert.strictEqual(read.outcome, "forbidden")
      assert.notInclude(requests.join(), "/feed/")
    })
  )

  it.live("prevents every other request there when it cannot be read", () =>
    Effect.gen(function* () {
      const other = yield* startUpstream((response) => response.writeHead(500).end())
      const redirect = redirecting(() => `${other.url}/products.json`)
      const { read } = yield* readShop(shop, redirect)
      assert.strictEqual(read.outcome, "unreachable")
      assert.deepStrictEqual([...new Set(listRequests(other))], ["/robots.txt"])
    }).pipe(Effect.scoped)
  )
})

const allows = (path: string, ...lines: ReadonlyArray<string>) =>
  parseRobots(lines.join("\n"), "larder").allows(new URL(`https://shop.example${path}`))

describe("rules of a robots.txt", () => {
  it.each([
    ["/products.json", "Disallow: /products", false],
    ["/products.json", "Disallow: /products$", true],
    ["/products", "Disallow: /products$", false],
    ["/products?page=2", "Disallow: /*?page=", false],
    ["/collections/a?x=1&sort_by=b", "Disallow: /collections/*sort_by*", false],
    ["/a.json", "Disallow: /*.json$", false],
    ["/a.json?b", "Disallow: /*.json$", true],
    ["/anything", "Disallow: *", false],
    ["/anything", "Disallow:", true],
    ["/caf%C3%A9", "Disallow: /café", false],
    ["/caf%C3%A9", "Disallow: /caf%c3%a9", false],
    ["/cart", "disallow : /cart # not the cart", false],
    ["/a", "Disallow: cart", true]
  ])("decide on %s by %j: %s", (path, rule, expected) => {
    assert.strictEqual(allows(path, "User-agent: *", rule), expected)
  })

  it("apply the longest pattern, and Allow between two of the same length", () => {
    const rules = ["User-agent: *", "Disallow: /a", "Allow: /a/b", "Disallow: /a/b/*c", "Allow: /x", "Disallow: /x"]
    assert.deepStrictEqual(
      ["/a", "/a/b", "/a/b/1c", "/x"].map((path) => allows(path, ...rules)),
      [false, true, false, true]
    )
  })

  it("are those for our name, in any number of groups, or else those for all", () => {
    const rules = ["User-agent: *", "Disallow: /", "User-agent: other", "User-agent: Larder/2.0", "Disallow: /a", ""]
    const more = ["User-agent: larder", "Sitemap: https://shop.example/s.xml", "Disallow: /b", "Crawl-delay: 2.5"]
    assert.deepStrictEqual(
      ["/a", "/b", "/c"].map((path) => allows(path, ...rules, ...more)),
      [false, false, true]
    )
    assert.strictEqual(parseRobots([...rules, ...more].join("\r\n"), "larder").delay, 2.5)
    assert.isFalse(allows("/c", ...rules.slice(0, 2)))
  })

  it("match patterns like a regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "$", "/"), maxLength: 8 })
    const path = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 12 })
    fc.assert(
      fc.property(text, path, (written, rest) => {
        const pattern = `/${written}`
        const isWhole = pattern.endsWith("$")
        const source = (isWhole ? pattern.slice(0, -1) : pattern)
          .split("*")
          .map((part) => part.replaceAll("$", "\\$"))
          .join(".*")
        const expected = new RegExp(`^${source}${isWhole ? "$" : ""}`).test(`/${rest}`)
        const { pathname } = new URL(`https://shop.example/${rest}`)
        fc.pre(pathname === `/${rest}`)
        assert.strictEqual(!allows(pathname, "User-agent: *", `Disallow: ${pattern}`), expected)
      })
    )
  })

  it("match many addresses against 500 KiB of patterns within seconds, not minutes", () => {
    const lines = Array.from({ length: 28_000 }, (_, n) => `Disallow: /*a*${n.toString(36)}`)
    const { allows: allowsAll } = parseRobots(`User-agent: *\n${lines.join("\n")}\n`, "larder")
    const path = "/collections/~~/products.json?limit=250&page="
    const allowed = Array.from({ length: 20 }, (_, page) => allowsAll(new URL(`https://shop.example${path}~${page}`)))
    assert.lengthOf(allowed, 20)
  })

  it("are kept once, not once per name, for a group with as many names as rules", () => {
    const numbers = Array.from({ length: 20_000 }, (_, n) => n)
    const names = ["*", "Larder", ...numbers.flatMap((n) => [`bot${n}`, "larder", "*"])]
    const lines = [...names.map((agent) => `User-agent:${agent}`), ...numbers.map((n) => `Disallow:/${n}a`)]
    assert.isAbove(lines.join("\n").length, 500 << 10)
    const before = process.memoryUsage().heapUsed
    const { allows: allowsAll } = parseRobots(lines.join("\n"), "larder")
    assert.isBelow(process.memoryUsage().heapUsed - before, 200 << 20)
    const isAllowed = (path: string) => allowsAll(new URL(`https://shop.example${path}`))
    assert.deepStrictEqual(["/7a", "/19999a", "/20000a"].map(isAllowed), [false, false, true])
  })
})
