import { assert, describe, it } from "@effect/vitest"
import { findNetwork } from "./networks.ts"

describe("the IPv6 network of an address", () => {
  it.each(["2001:db8::1", "2001:0DB8:0:0:ffff::", "2001:db8:0:0:1:2:3:4"])(
    "is the same for every spelling of an address: %s",
    (address) => {
      assert.strictEqual(findNetwork(address, 64), "2001:db8:0:0::/64")
      assert.strictEqual(findNetwork(address, 48), "2001:db8:0::/48")
    }
  )

  it("is shared by many networks of 64 bits when it has 48", () => {
    assert.strictEqual(findNetwork("2001:db8:0:1::1", 64), "2001:db8:0:1::/64")
    assert.strictEqual(findNetwork("2001:db8:0:1::1", 48), "2001:db8:0::/48")
    assert.strictEqual(findNetwork("2001:db8:1::1", 48), "2001:db8:1::/48")
  })

  it.each(["192.0.2.7", "", "unknown"])("leaves %j, which is not IPv6, unchanged", (address) => {
    assert.strictEqual(findNetwork(address, 64), address)
    assert.strictEqual(findNetwork(address, 48), address)
  })
})
