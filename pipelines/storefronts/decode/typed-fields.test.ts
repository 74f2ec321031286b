import { assert, describe, it } from "@effect/vitest"
import { FeedStats } from "./feed-stats.ts"
import { types } from "./field-types.ts"
import { Fields } from "./typed-fields.ts"

describe("an optional field", () => {
  const roles = { grams: "optional", images: "optional", title: "substance" } as const

  it("is null if it cannot be read, and what it said is an odd value", () => {
    const stats = new FeedStats()
    const fields = new Fields(stats, roles, "variant", 2)
    assert.deepStrictEqual(
      ["heavy", { g: 5 }, "-5", "12.5"].map((stated) => fields.read("grams", stated, types.grams)),
      [null, null, null, 12.5]
    )
    assert.deepStrictEqual(stats.takeOddValues(), [
      { field: "variant grams", said: "heavy" },
      { field: "variant grams", said: '{"g":5}' },
      { field: "variant grams", said: "-5" }
    ])
    assert.deepStrictEqual(stats.takeOddValues(), [])
  })

  it("never makes a feed untrusted, even if no value can be read", () => {
    const stats = new FeedStats()
    for (let row = 0; row < 5; row++) {
      new Fields(stats, roles).read("grams", "heavy", types.grams)
      stats.recordUsed()
    }
    assert.isNull(stats.findFault())
  })

  it("keeps the other entries of a list with a wrong one", () => {
    const stats = new FeedStats()
    assert.deepStrictEqual(new Fields(stats, roles).readObjects("images", [{ src: "a" }, 5, null]), [{ src: "a" }])
    assert.deepStrictEqual(stats.takeOddValues(), [{ field: "images", said: "5" }])
  })

  it("has no value if it says so, except in names", () => {
    const stats = new FeedStats()
    const fields = new Fields(stats, roles)
    assert.deepStrictEqual(
      ["", "NA", " n/a", "--"].map((stated) => fields.read("grams", stated, types.grams)),
      [null, null, null, null]
    )
    assert.strictEqual(fields.read("title", "NA", types.text), "NA")
    assert.deepStrictEqual(stats.takeOddValues(), [])
  })
})

describe("the fields seen", () => {
  it("have any value but undefined in some row, and are named with their part", () => {
    const stats = new FeedStats()
    const roles = { sku: "substance", title: "substance" } as const
    new Fields(stats, roles).read("title", "Tea", types.text)
    for (const [number, sku] of [undefined, null, "A-1"].entries()) {
      const fields = new Fields(stats, roles, number < 2 ? "variant" : "picture", number)
      fields.read("sku", sku, types.code)
    }
    new Fields(stats, roles, "variant").read("title", undefined, types.text)
    stats.recordField("vendor")
    assert.deepStrictEqual(stats.fieldsSeen, new Set(["title", "vendor", "variant sku", "picture sku"]))
  })
})
