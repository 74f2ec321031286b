import { assert, describe, it } from "@effect/vitest"
import { describeShare, findCommonestReason, isLeftOutInPart, leaveOutInPart } from "./shares.ts"

describe("a feed is left out in part", () => {
  it.each([
    [100, 2, false],
    [100, 3, true],
    [40, 1, false],
    [2, 2, true],
    [0, 0, false]
  ])("if of %i rows %i are rejected: %s", (read, rejected, expected) =>
    assert.strictEqual(isLeftOutInPart({ read, rejected }), expected)
  )

  it("without effect on the exit code if an earlier run recorded all rejects", () => {
    const isKnown = (unknown: number) => leaveOutInPart("a", unknown, "").is_known
    assert.deepStrictEqual([0, 1].map(isKnown), [true, false])
  })
})

describe("the commonest reason", () => {
  it("counts reasons that differ only in quoted texts and numbers as one", () => {
    const reasons = ["its unit is wrong", 'price is "$0.69"', 'price is "$0.70"', "its unit is wrong", 'price is "$12"']
    assert.strictEqual(findCommonestReason(reasons), 'price is "$0.69"')
  })
  it("is in the sentence with the share", () => {
    assert.strictEqual(
      describeShare({ read: 4000, rejected: 1005 }, "labels", "modified_date is wrong."),
      "1,005 of 4,000 labels were rejected (25.1 %), most often because modified_date is wrong"
    )
  })
})
