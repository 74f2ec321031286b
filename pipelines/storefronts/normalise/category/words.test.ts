import { describe, expect, it } from "vitest"
import { splitWords, toPhraseKey } from "./words.ts"

describe("words of titles", () => {
  it.each([
    ["Cookies", "cookie"],
    ["Brushes", "brush"],
    ["Glasses", "glass"],
    ["Knives", "knife"],
    ["Vases", "vase"],
    ["T-Shirts", "t shirt"],
    ["Men's Shoes", "man shoe"],
    ["Căciulă", "caciula"],
    ["SAÇ KREMİ", "sac kremi"],
    ["IŞIK", "isik"],
    ["Żółty ser", "zolty ser"],
    ["الساعة", "ساعه"],
    ["أسلاك", "اسلاك"],
    ["للسيارة", "سيارة"],
    ["Чайник", "чайник"]
  ])("%s and %s have the same key", (one, other) => {
    expect(toPhraseKey(one)).toBe(toPhraseKey(other))
  })

  it("keep Cyrillic letters with marks: й is not и, ї is not і", () => {
    expect(toPhraseKey("Чай її")).toBe("чай її")
  })

  it("leave out numbers without a letter, and keep those with one", () => {
    expect(splitWords("Panel 400 W, 24V")).toEqual(["panel", "w", "24v"])
  })

  it("never come from an entity that is still in the text", () => {
    expect(splitWords("Tom &amp; Anna &#39;mug&#x27; &bogus; R&D")).toEqual(["tom", "anna", "mug", "r", "d"])
  })

  it("are folded in the same way at each occurrence", () => {
    expect(splitWords("Lenses lenses LENSES")).toEqual(["lens", "lens", "lens"])
  })
})
