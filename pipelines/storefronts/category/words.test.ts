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
  ])("%s and %s are the same", (one, other) => {
    expect(phraseKey(one)).toBe(phraseKey(other))
  })

  it("keep letters that Latin accents would turn into others: й is not и, ї is not і", () => {
    expect(phraseKey("Чай її")).toBe("чай її")
  })

  it("leave out numbers that name nothing, and keep those with a letter", () => {
    expect(wordsOf("Panel 400 W, 24V")).toEqual(["panel", "w", "24v"])
  })

  it("fold a word the same way however often they meet it", () => {
    expect(wordsOf("Lenses lenses LENSES")).toEqual(["lens", "lens", "lens"])
  })
})
