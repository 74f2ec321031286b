import { assert, describe, it } from "@effect/vitest"
import { addressFor, hostIn, isEveryAddress, isLoopback } from "./addresses.ts"

describe("an address that stands for all of a machine", () => {
  it.each(["http://0.0.0.0:8080", "http://[::]:8080", "http://0:8080"])("is %s", (url) =>
    assert.isTrue(isEveryAddress(url))
  )
  it.each(["http://127.0.0.1:8080", "http://[::1]:8080", "http://0.0.0.0.example:8080", "nowhere"])(
    "is not %s",
    (url) => assert.isFalse(isEveryAddress(url))
  )
})

describe("an address that only its own machine reaches", () => {
  it.each(["http://127.0.0.1:8081", "http://127.1.2.3:8081", "http://[::1]:8081", "http://localhost:8081"])(
    "is %s",
    (url) => assert.isTrue(isLoopback(url))
  )
  it.each([
    "http://0.0.0.0:8081",
    "http://[::]:8081",
    "http://192.168.1.5:8081",
    "http://127.0.0.1.example",
    "nowhere"
  ])("is not %s", (url) => assert.isFalse(isLoopback(url)))
})

describe("a listener on every address", () => {
  const everywhere = "http://0.0.0.0:8081"
  it.each([
    ["larder.lan:9000", "http://larder.lan:8081"],
    ["larder.lan", "http://larder.lan:8081"],
    ["192.168.1.5:8081", "http://192.168.1.5:8081"],
    ["[fd00::5]:8081", "http://[fd00::5]:8081"],
    [null, "http://127.0.0.1:8081"],
    ["", "http://127.0.0.1:8081"]
  ])("is for who came by %j at %s", (host, expected) => assert.strictEqual(addressFor(everywhere, host), expected))

  it("is at the loopback of its own kind for its machine, and keeps a port that goes without saying", () => {
    assert.strictEqual(addressFor("http://[::]:8081", null), "http://[::1]:8081")
    assert.strictEqual(addressFor("http://0.0.0.0:80", "larder.lan"), "http://larder.lan")
  })

  const hostile = [
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
  it.each(hostile)("is at the loopback for who says to come by %j", (host) => {
    assert.isUndefined(hostIn(host))
    assert.strictEqual(addressFor(everywhere, host), "http://127.0.0.1:8081")
  })
})

it("a listener on one address is there for everybody", () => {
  assert.strictEqual(addressFor("http://192.168.1.5:8081", "larder.lan"), "http://192.168.1.5:8081")
})
