import { assert, describe, it } from "@effect/vitest"
import { networkOf } from "./networks.ts"

describe("a network of IPv6", () => {
  it.each(["2001:db8::1", "2001:0DB8:0:0:ffff::", "2001:db8:0:0:1:2:3:4"])("is the same for %s", (address) => {
    assert.strictEqual(networkOf(address, 64), "2001:db8:0:0::/64")
    assert.strictEqual(networkOf(address, 48), "2001:db8:0::/48")
  })

  it("of 48 bits holds many of 64", () => {
    assert.strictEqual(networkOf("2001:db8:0:1::1", 64), "2001:db8:0:1::/64")
    assert.strictEqual(networkOf("2001:db8:0:1::1", 48), "2001:db8:0::/48")
    assert.strictEqual(networkOf("2001:db8:1::1", 48), "2001:db8:1::/48")
  })

  it.each(["192.0.2.7", "", "unknown"])("is none of %j", (address) => {
    assert.strictEqual(networkOf(address, 64), address)
    assert.strictEqual(networkOf(address, 48), address)
  })
})
