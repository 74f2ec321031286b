import { assert, describe, it } from "@effect/vitest"
import { readForwarded, readForwardedFor } from "./forwarded.ts"

const addressesOf = (hops: ReturnType<typeof readForwarded>) => hops.map(({ address }) => address)

describe("X-Forwarded-For", () => {
  it.each([
    ["203.0.113.7", ["203.0.113.7"]],
    ["203.0.113.7:4101", ["203.0.113.7"]],
    ["2001:db8::9", ["2001:db8::9"]],
    ["[2001:db8::9]", ["2001:db8::9"]],
    ["[2001:DB8:0::9]:4444", ["2001:db8::9"]],
    ['"[2001:db8::9]:4444"', ["2001:db8::9"]],
    ['"203.0.113.7"', ["203.0.113.7"]],
    ["[::ffff:203.0.113.7]:80", ["203.0.113.7"]],
    ["fe80::1%eth0", ["fe80::1"]],
    ["198.51.100.1:80,\t203.0.113.7 ,[2001:db8::9]:1", ["198.51.100.1", "203.0.113.7", "2001:db8::9"]]
  ])("%s is %j", (header, expected) => assert.deepStrictEqual(addressesOf(readForwardedFor(header)), expected))

  it.each([
    "unknown",
    "_hidden",
    "localhost",
    "203.0.113.7:",
    "203.0.113.7:http",
    "203.0.113.7:123456",
    "203.0.113.256",
    "203.0.113.7 80",
    "[2001:db8::9",
    "2001:db8::9]:80",
    "[203.0.113.7]x",
    '"203.0.113.7',
    "for=203.0.113.7",
    ""
  ])("%j has no address", (header) => assert.deepStrictEqual(addressesOf(readForwardedFor(header)), [undefined]))
})

describe("Forwarded", () => {
  it.each([
    ["for=203.0.113.7", ["203.0.113.7"]],
    ['For="[2001:db8:cafe::17]:4711"', ["2001:db8:cafe::17"]],
    ['for="[2001:db8::9]:4444";proto=https', ["2001:db8::9"]],
    ["proto=http; for=203.0.113.7:_port ;by=10.0.0.1;", ["203.0.113.7"]],
    ["for=203.0.113.7:80;host=a", ["203.0.113.7"]],
    ["for=[2001:db8::9]:80", ["2001:db8::9"]],
    ['for="20\\3.0.113.\\7"', ["203.0.113.7"]],
    ['for=198.51.100.1;by="a, for=b;\\"c\\"", for="203.0.113.7:1"', ["198.51.100.1", "203.0.113.7"]],
    ['for=unknown, for=_hidden, for="_hidden:_port", proto=https, for=1.2.3.4', [...Array(4), "1.2.3.4"]],
    ["for=1.2.3.4,", ["1.2.3.4", undefined]]
  ])("%s is %j", (header, expected) => assert.deepStrictEqual(addressesOf(readForwarded(header)), expected))

  it.each([
    ["a header that is not a list of pairs", "203.0.113.7"],
    ["a pair without a value", "for=;proto=https"],
    ["blanks around the equals sign", "for = 203.0.113.7"],
    ["a parameter twice in one element", "for=203.0.113.7;for=198.51.100.1"],
    ["text after a quotation", 'for="203.0.113.7"x'],
    ["a quotation that a caller opened", 'for=198.51.100.1;by=", for=203.0.113.7'],
    ["a quotation that a caller opened and the proxy closed", 'for=198.51.100.1;by=", for="[2001:db8::9]:4444"'],
    ["an escape at the end", 'for="203.0.113.7\\"']
  ])("with %s is read as a whole without an address", (_, header) =>
    assert.deepStrictEqual(readForwarded(header), [{ text: header, address: undefined }])
  )

  it("of 16 kB with any repeated part is read", () => {
    for (const part of [" ", ";", ",", '"', "\\", "for=", 'a="', "a=b ", "a="])
      assert.isAtLeast(readForwarded(part.repeat(16_384 / part.length)).length, 1)
  })
})
