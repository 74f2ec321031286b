import { assert, describe, it } from "@effect/vitest"
import { decodeEntities } from "./entities.ts"

describe("entities", () => {
  it.each([
    ["Tom &amp; Anna &#39;mug&#x27;", "Tom & Anna 'mug'"],
    ["Caf&eacute; &#8211; 5&quot;", 'Café – 5"'],
    ["salt&comma; pepper &NotEqualTilde;", "salt, pepper \u2242\u0338"],
    ["a &amp;amp; b &amp;#0;", "a &amp; b &#0;"]
  ])("of %j are decoded once: %j", (text, expected) => {
    assert.strictEqual(decodeEntities(text), expected)
  })

  it("that name a byte of windows-1252 are that character", () => {
    assert.strictEqual(decodeEntities("5 &#128; &#x96; &#159;"), "5 € – Ÿ")
  })

  it("of characters that do not exist are spaces", () => {
    assert.strictEqual(decodeEntities("a&#0;b&#x0;c&#xD800;d&#57343;e&#1114112;f&#99999999999;g"), "a b c d e f g")
    assert.strictEqual(decodeEntities("lost \ufffd before &#65533;"), "lost \ufffd before \ufffd")
  })

  it.each(["R & D; a&b;", "&bogus; &toString;", "?a=1&copy=2&amp", "&#; &#x; &#xg; &#38 &#0"])(
    "are not decoded in %j",
    (text) => {
      assert.strictEqual(decodeEntities(text), text)
    }
  )

  it.each(["&", "&a1", "&#1", "&#x1", "&amp;", "&#0;"])("are decoded in linear time in megabytes of %s", (piece) => {
    assert.isAtLeast(decodeEntities(piece.repeat(1_000_000)).length, 1_000_000)
    assert.isAtLeast(decodeEntities(piece + "1".repeat(4_000_000)).length, 4_000_000)
  })
})
