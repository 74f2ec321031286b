import { assert, describe, it } from "@effect/vitest"
import { callerOf } from "./guard.ts"

describe("whose failed sign-ins count together", () => {
  it("is the address that asked, where it comes from elsewhere, whatever its headers say", () => {
    assert.strictEqual(callerOf("192.0.2.7", null), "192.0.2.7")
    assert.strictEqual(callerOf("192.0.2.7", "198.51.100.1"), "192.0.2.7")
    assert.strictEqual(callerOf("2001:db8::1", "198.51.100.1"), "2001:db8:0:0::/64")
  })

  it.each(["127.0.0.1", "::ffff:127.0.0.1", "::1"])("is what a proxy on this machine (%s) has added last", (proxy) => {
    assert.strictEqual(callerOf(proxy, "198.51.100.1"), "198.51.100.1")
    assert.strictEqual(callerOf(proxy, "10.0.0.1, made up, 198.51.100.1"), "198.51.100.1")
    assert.strictEqual(callerOf(proxy, "2001:DB8:1:2:3:4:5:6"), "2001:db8:1:2::/64")
    for (const nothing of [null, "", "unknown", "198.51.100.1, ", "198.51.100.1:80"]) {
      assert.strictEqual(callerOf(proxy, nothing), callerOf(proxy, null))
    }
  })

  it("is one network of IPv6, and one address of IPv4 however it is written", () => {
    const same = ["2001:db8::1", "2001:0db8:0:0:ffff::", "2001:db8:0:0:1:2:3:4"].map((peer) => callerOf(peer, null))
    assert.deepStrictEqual([...new Set(same)], ["2001:db8:0:0::/64"])
    assert.notStrictEqual(callerOf("2001:db8:0:1::1", null), same[0])
    assert.strictEqual(callerOf("::ffff:192.0.2.7", null), "192.0.2.7")
  })
})
