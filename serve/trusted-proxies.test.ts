import { assert, describe, it } from "@effect/vitest"
import { findCaller, loopback as loopbackProxies, parseProxies } from "./trusted-proxies.ts"

const makeFindCaller = (text: string) => {
  const proxies = parseProxies(text)
  if (proxies === undefined) throw new Error(`${text} is not a list of proxies`)
  return (peer: string, forwardedFor: string | null, forwarded: string | null = null) =>
    findCaller(proxies, peer, { forwarded, forwardedFor }).caller
}
const find = (peer: string, forwardedFor: string | null, forwarded: string | null = null) =>
  findCaller(loopbackProxies, peer, { forwarded, forwardedFor })
const loopback = (peer: string, forwardedFor: string | null, forwarded: string | null = null) =>
  find(peer, forwardedFor, forwarded).caller

describe("a caller", () => {
  it("is the peer itself when it is not a trusted proxy, and ignores its headers", () => {
    assert.strictEqual(loopback("192.0.2.7", null), "192.0.2.7")
    assert.strictEqual(loopback("192.0.2.7", "198.51.100.1"), "192.0.2.7")
    assert.strictEqual(loopback("::ffff:192.0.2.7", "198.51.100.1"), "192.0.2.7")
    assert.strictEqual(loopback("::FFFF:c000:207", "198.51.100.1"), "192.0.2.7")
    assert.strictEqual(loopback("2001:db8::1", "198.51.100.1"), "2001:db8::1")
    assert.strictEqual(loopback("fe80::1%eth0", "198.51.100.1"), "fe80::1")
    assert.strictEqual(loopback("192.0.2.7", "198.51.100.1", "for=198.51.100.2"), "192.0.2.7")
    assert.strictEqual(loopback("", "198.51.100.1"), "")
  })

  it.each(["127.0.0.1", "::ffff:127.0.0.1", "::1"])("is the last address that the trusted proxy %s added", (proxy) => {
    assert.strictEqual(loopback(proxy, "198.51.100.1"), "198.51.100.1")
    assert.strictEqual(loopback(proxy, "10.0.0.1, made up, 198.51.100.1"), "198.51.100.1")
    assert.strictEqual(loopback(proxy, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2:3:4:5:6")
    assert.strictEqual(loopback(proxy, "10.0.0.1, [2001:db8::9]:4444"), "2001:db8::9")
    assert.strictEqual(loopback(proxy, null, 'for=10.0.0.1, for="[2001:db8::9]:4444";proto=https'), "2001:db8::9")
    for (const invalid of [null, "", "unknown", "198.51.100.1, ", "198.51.100.1:http"]) {
      assert.strictEqual(loopback(proxy, invalid), loopback(proxy, null))
    }
  })

  it("is the nearest address that is not a trusted proxy, behind several proxies", () => {
    const caller = makeFindCaller("127.0.0.1, 10.0.0.0/8,2001:db8:5::/48")
    assert.strictEqual(caller("10.1.2.3", "198.51.100.1"), "198.51.100.1")
    assert.strictEqual(caller("127.0.0.1", "203.0.113.9, 198.51.100.1, 2001:db8:5::7, 10.9.9.9"), "198.51.100.1")
    assert.strictEqual(caller("127.0.0.1", "198.51.100.1, unknown, 10.9.9.9"), "10.9.9.9")
    assert.strictEqual(caller("::1", "198.51.100.1"), "::1") // the list replaces the default, the loopback
    assert.strictEqual(caller("10.1.2.3", "10.0.0.4, 10.0.0.5"), "10.0.0.4")
    assert.strictEqual(caller("10.1.2.3", null, "for=203.0.113.9, for=198.51.100.1, for=10.0.0.5"), "198.51.100.1")
  })
})

describe("two headers that name", () => {
  it("the same caller are believed", () => {
    assert.deepStrictEqual(find("::1", "10.0.0.1, 198.51.100.1:80", "for=198.51.100.1"), { caller: "198.51.100.1" })
    assert.deepStrictEqual(find("::1", "127.0.0.1", "for=127.0.0.1"), { caller: "127.0.0.1" })
  })
  it.each([
    ["198.51.100.1", "for=203.0.113.9"],
    ["198.51.100.1", "for=unknown"],
    ["198.51.100.1", 'for="'],
    ["unknown", "for=198.51.100.1"]
  ])("different callers are not: one of them may be forged: %s and %s", (forwardedFor, forwarded) => {
    assert.deepStrictEqual(find("127.0.0.1", forwardedFor, forwarded), {
      caller: "127.0.0.1",
      problem: "X-Forwarded-For and Forwarded name different callers"
    })
  })
})

describe("a header without the caller's address", () => {
  it("is explained with an excerpt", () => {
    const problemOf = (forwardedFor: string | null, forwarded: string | null) =>
      find("127.0.0.1", forwardedFor, forwarded).problem
    assert.strictEqual(problemOf("unknown", null), 'X-Forwarded-For has no address of a caller: "unknown"')
    assert.strictEqual(problemOf("unknown", "for=_hidden"), 'X-Forwarded-For has no address of a caller: "unknown"')
    assert.strictEqual(problemOf(null, "proto=https"), 'Forwarded has no address of a caller: ""')
    assert.strictEqual(
      problemOf(null, `f"\n\u00e4${"x".repeat(500)}`),
      `Forwarded has no address of a caller: "f\\"??${"x".repeat(36)}"`
    )
  })
  it("is no problem where it does not count", () => {
    for (const header of ["made up, 198.51.100.1", null, ""]) assert.notProperty(find("127.0.0.1", header), "problem")
    assert.deepStrictEqual(find("192.0.2.7", "unknown", "unknown"), { caller: "192.0.2.7" })
  })
})

it.each([
  "nobody",
  "10.0.0.0/33",
  "10.0.0.0/8/8",
  "10.0.0.1:80",
  "10.0.0.1,,10.0.0.2",
  "2001:db8::/129",
  "10.0.0.0/-1"
])("rejects %s as a list of proxies", (text) => assert.isUndefined(parseProxies(text)))
