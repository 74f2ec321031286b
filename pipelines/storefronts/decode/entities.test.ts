import { assert, describe, it } from "@effect/vitest"
import { decodeEntities, dropEntities } from "./entities.ts"

describe("entities", () => {
  it.each([
    ["Tom &amp; Anna &#39;mug&#x27;", "Tom & Anna 'mug'"],
    ["Caf&eacute; &#8211; 5&quot;", 'Café – 5"'],
    ["a &#150; b", "a – b"],
    ["a &amp;amp; b", "a &amp; b"],
    [
      "R & D; a&b; &bogus; &#0; &#xD800; &#9999999; &toString;",
      "R & D; a&b; &bogus; &#0; &#xD800; &#9999999; &toString;"
    ]
  ])("of %j are decoded once: %j", (text, expected) => {
    assert.strictEqual(decodeEntities(text), expected)
  })

  it("are dropped when they cannot be decoded, for words", () => {
    assert.strictEqual(dropEntities("Salt &bogus;&amp;amp; caf&eacute; & R&D"), "Salt    caf\u00e9 & R&D")
  })

  it("are decoded in linear time", () => {
    assert.strictEqual(decodeEntities("&".repeat(2_000_000)).length, 2_000_000)
    assert.strictEqual(decodeEntities("&a1".repeat(1_000_000)).length, 3_000_000)
  })
})
