import { assert, describe, it } from "@effect/vitest"
import { trackLeaseTrust } from "./lease-rules.ts"

const startTrust = () => {
  const clock = { monotonic: 1_000, timeOfDay: Date.parse("2026-10-31T00:00:00Z") }
  const trust = trackLeaseTrust({ monotonic: () => clock.monotonic, timeOfDay: () => clock.timeOfDay })
  const pass = (monotonic: number, timeOfDay = monotonic) => {
    clock.monotonic += monotonic
    clock.timeOfDay += timeOfDay
  }
  return { trust, pass }
}

describe("leases", () => {
  it("are trusted for 3.5 seconds after the last renewal", () => {
    const { pass, trust } = startTrust()
    pass(3_499)
    assert.isTrue(trust.isTrusted())
    pass(1)
    assert.isFalse(trust.isTrusted())
  })

  it("are distrusted after the machine was suspended while its monotonic clock was stopped", () => {
    const { pass, trust } = startTrust()
    pass(10, 6_010)
    assert.isFalse(trust.isTrusted())
  })

  it("are distrusted if the machine was suspended between a heartbeat and its result", () => {
    const { pass, trust } = startTrust()
    const since = trust.now()
    pass(10, 6_010)
    trust.renew(since)
    assert.isFalse(trust.isTrusted())
  })

  it.each([
    ["forward", 3_600_000],
    ["back", -3_600_000]
  ])("are distrusted until the next heartbeat after the time of day was set %s", (_, by) => {
    const { pass, trust } = startTrust()
    pass(10, by)
    assert.isFalse(trust.isTrusted())
    trust.renew(trust.now())
    pass(1_000)
    assert.isTrue(trust.isTrusted())
  })

  it("are trusted while the time of day is adjusted by less than a second", () => {
    const { pass, trust } = startTrust()
    pass(3_000, 3_900)
    assert.isTrue(trust.isTrusted())
  })
})
