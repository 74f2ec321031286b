import { describe, expect, it } from "vitest"
import { phraseKey, wordsOf } from "./words.ts"

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
    expect(phraseKey(one)).toBe(phraseKey(other))
  })

  it("keep Cyrillic letters with marks: й is not и, ї is not і", () => {
    expect(phraseKey("Чай її")).toBe("чай її")
  })

  it("leave out bare numbers, and keep numbers with a letter", () => {
    expect(wordsOf("Panel 400 W, 24V")).toEqual(["panel", "w", "24v"])
  })

  it("are folded in the same way at each occurrence", () => {
    expect(wordsOf("Lenses lenses LENSES")).toEqual(["lens", "lens", "lens"])
  })
})
