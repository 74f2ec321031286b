import { assert, describe, it } from "@effect/vitest"
import { dropEnded } from "./freshness.ts"

describe("what is left out of the live data", () => {
  const leftOut = ["gov-mars/1603", "gov-mars/1041", "gov-mars/9001"].map((feed) => ({ pipeline: "commodities", feed }))
  const judge = (feed: string, left_out: "partial" | null) => ({ pipeline: "commodities", feed, left_out })

  it("is without feeds that no run reads any more, unless one of their subjects is still read", () => {
    const rows = [judge("gov-mars/1603", null), judge("gov-mars/1041", null), judge("gov-mars/1041", "partial")]
    const kept = dropEnded(leftOut, rows).map(({ feed }) => feed)
    assert.deepStrictEqual(kept, ["gov-mars/1041", "gov-mars/9001"], "the last one was never judged")
  })

  it("is complete as long as freshness is unknown", () => {
    assert.deepStrictEqual(dropEnded(leftOut, []), leftOut)
  })
})
