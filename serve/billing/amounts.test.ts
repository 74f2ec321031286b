import { assert, describe, it } from "@effect/vitest"
import { amountPresets, centsToCredits, formatCents, isValidPayment, isValidTrigger } from "./amounts.ts"

describe("amounts of money", () => {
  it.each([
    [0, "$0.00"],
    [5, "$0.05"],
    [-5, "-$0.05"],
    [10_00, "$10.00"],
    [1_250_99, "$1,250.99"],
    [50_000_00, "$50,000.00"],
    [-1_234_567_89, "-$1,234,567.89"]
  ])("writes %i cents as %s", (cents, text) => assert.strictEqual(formatCents(cents), text))

  it("converts one cent to ten credits", () => assert.strictEqual(centsToCredits(50_000_00), 50_000_000))

  it.each([
    [9_99, false],
    [10_00, true],
    [10_00.5, false],
    [50_000_00, true],
    [50_000_01, false],
    [Number.NaN, false]
  ])("accepts %d cents as one payment: %s", (cents, isValid) => assert.strictEqual(isValidPayment(cents), isValid))

  it.each([
    [999, false],
    [1_000, true],
    [50_000_000, true],
    [50_000_001, false]
  ])("accepts %d credits as a trigger: %s", (credits, isValid) => assert.strictEqual(isValidTrigger(credits), isValid))

  it("offers only amounts that can be paid", () => assert.isTrue(amountPresets.every(isValidPayment)))
})
