import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { creditsOf, usdOf } from "./money.ts"

describe("US dollars and credits", () => {
  it.each([
    ["0", 0],
    ["5", 5_000],
    ["0.5", 500],
    ["12.345", 12_345],
    ["0.001", 1],
    ["1000000000", 1_000_000_000_000]
  ])("reads %s USD as %i credits", (usd, credits) => {
    assert.strictEqual(creditsOf(usd), credits)
  })

  it.each(["", "-1", "+1", "1.", ".5", "1.2345", "1e3", "1,000", " 1", "ten", "1000000001", "NaN", "٣"])(
    "rejects %j as an amount",
    (usd) => {
      assert.isUndefined(creditsOf(usd))
    }
  )

  it("converts credits to US dollars and back without loss", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (credits) => {
        assert.strictEqual(creditsOf(String(usdOf(credits))), credits)
      })
    )
  })
})
