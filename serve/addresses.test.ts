import { assert, describe, it } from "@effect/vitest"
import { addressFor, isAllInterfaces, isLoopbackUrl, parseHost } from "./addresses.ts"

describe("an address for all interfaces", () => {
  it.each(["http://0.0.0.0:8080", "http://[::]:8080", "http://0:8080"])(
    "recognises %s as an address for all interfaces",
    (url) => assert.isTrue(isAllInterfaces(url))
  )
  it.each(["http://127.0.0.1:8080", "http://[::1]:8080", "http://0.0.0.0.example:8080", "nowhere"])(
    "does not recognise %s as an address for all interfaces",
    (url) => assert.isFalse(isAllInterfaces(url))
  )
})

describe("a loopback address", () => {
  it.each(["http://127.0.0.1:8081", "http://127.1.2.3:8081", "http://[::1]:8081", "http://localhost:8081"])(
    "recognises %s as reachable only from its own machine",
    (url) => assert.isTrue(isLoopbackUrl(url))
  )
  it.each([
    "http://0.0.0.0:8081",
    "http://[::]:8081",
    "http://192.168.1.5:8081",
    "http://127.0.0.1.example",
    "nowhere"
  ])("does not recognise %s as a loopback address", (url) => assert.isFalse(isLoopbackUrl(url)))
})

describe("a listener on all interfaces", () => {
  const allInterfaces = "http://0.0.0.0:8081"
  it.each([
    ["larder.lan:9000", "http://larder.lan:8081"],
    ["larder.lan", "http://larder.lan:8081"],
    ["192.168.1.5:8081", "http://192.168.1.5:8081"],
    ["[fd00::5]:8081", "http://[fd00::5]:8081"],
    [null, "http://127.0.0.1:8081"],
    ["", "http://127.0.0.1:8081"]
  ])("gives a client that used the host %j the address %s", (host, expected) =>
    assert.strictEqual(addressFor(allInterfaces, host), expected)
  )

  it("uses the loopback of its IP version when there is no host, and omits port 80", () => {
    assert.strictEqual(addressFor("http://[::]:8081", null), "http://[::1]:8081")
    assert.strictEqual(addressFor("http://0.0.0.0:80", "larder.lan"), "http://larder.lan")
  })

  const hostileHosts = [
    'a"><script>',
    "a b",
    "a;script-src *",
    "a;b",
    "a$(id)",
    "a`id`",
    "a'b",
    "a/path",
    "a?query",
    "a#fragment",
    "user@evil.example",
    "evil.example\\",
    "a:b",
    "a:1:2",
    "[::1",
    "[zz]",
    "256.256.256.256",
    "ä.example",
    "a".repeat(254)
  ]
  it.each(hostileHosts)("ignores the invalid host %j and uses the loopback address", (host) => {
    assert.isUndefined(parseHost(host))
    assert.strictEqual(addressFor(allInterfaces, host), "http://127.0.0.1:8081")
  })
})

it("a listener on one address keeps it, even if a request names another host", () => {
  assert.strictEqual(addressFor("http://192.168.1.5:8081", "larder.lan"), "http://192.168.1.5:8081")
})
