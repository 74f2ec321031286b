import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { robotsRules } from "./robots-rules.ts"

const allows = (path: string, ...lines: ReadonlyArray<string>) =>
  robotsRules(lines.join("\n"), "larder").allows(new URL(`https://shop.example${path}`))

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
  ])("say of %s by %j: %s", (path, rule, expected) => {
    assert.strictEqual(allows(path, "User-agent: *", rule), expected)
  })

  it("take the longest pattern, and Allow between two of one length", () => {
    const rules = ["User-agent: *", "Disallow: /a", "Allow: /a/b", "Disallow: /a/b/*c", "Allow: /x", "Disallow: /x"]
    assert.deepStrictEqual(
      ["/a", "/a/b", "/a/b/1c", "/x"].map((path) => allows(path, ...rules)),
      [false, true, false, true]
    )
  })

  it("are those for our name, in as many groups as there are, else those for all", () => {
    const rules = ["User-agent: *", "Disallow: /", "User-agent: other", "User-agent: Larder/2.0", "Disallow: /a", ""]
    const more = ["User-agent: larder", "Sitemap: https://shop.example/s.xml", "Disallow: /b", "Crawl-delay: 2.5"]
    assert.deepStrictEqual(
      ["/a", "/b", "/c"].map((path) => allows(path, ...rules, ...more)),
      [false, false, true]
    )
    assert.strictEqual(robotsRules([...rules, ...more].join("\r\n"), "larder").delay, 2.5)
    assert.isFalse(allows("/c", ...rules.slice(0, 2)))
  })

  it("match patterns as an expression does", () => {
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

  it("hold many addresses against 500 KiB of patterns, which a parser for each character would do for minutes", () => {
    const lines = Array.from({ length: 28_000 }, (_, n) => `Disallow: /*a*${n.toString(36)}`)
    const { allows: allowsAll } = robotsRules(`User-agent: *\n${lines.join("\n")}\n`, "larder")
    const path = "/collections/~~/products.json?limit=250&page="
    const allowed = Array.from({ length: 20 }, (_, page) => allowsAll(new URL(`https://shop.example${path}~${page}`)))
    assert.lengthOf(allowed, 20)
  })

  it("of a group with as many names as rules are kept once: the square of them would not fit into memory", () => {
    const numbers = Array.from({ length: 20_000 }, (_, n) => n)
    const names = ["*", "Larder", ...numbers.flatMap((n) => [`bot${n}`, "larder", "*"])]
    const lines = [...names.map((agent) => `User-agent:${agent}`), ...numbers.map((n) => `Disallow:/${n}a`)]
    assert.isAbove(lines.join("\n").length, 500 << 10)
    const before = process.memoryUsage().heapUsed
    const { allows: allowsAll } = robotsRules(lines.join("\n"), "larder")
    assert.isBelow(process.memoryUsage().heapUsed - before, 200 << 20)
    const isAllowed = (path: string) => allowsAll(new URL(`https://shop.example${path}`))
    assert.deepStrictEqual(["/7a", "/19999a", "/20000a"].map(isAllowed), [false, false, true])
  })
})
