import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { parseBarcode } from "./barcodes.ts"

describe("a barcode", () => {
  it("is equal with leading zeros, up to 14 digits", () => {
    for (const text of ["59642932491", "059642932491", "00059642932491"]) {
      assert.deepStrictEqual(parseBarcode(text), [59642932491])
    }
  })
  it.each(["", "x", "05964293249x", "000000000000000", "0596 42932491", "-1", "1e5", "٠٤٢"])(
    "has no number if it is %j",
    (text) => {
      assert.deepStrictEqual(parseBarcode(text), [])
    }
  )
  it.each([
    ["04252614", 42100005264], // GS1's own example
    ["01234505", 12000003455],
    ["01234531", 12300000451],
    ["01234543", 12340000053],
    ["01234558", 12345000058],
    ["01234596", 12345000096],
    ["11234507", undefined]
  ])("expands its eight digits %s to %s", (short, long) => {
    assert.strictEqual(parseBarcode(short)[1], long)
  })
  it("is not expanded with a wrong check digit, a different number system or a different length", () => {
    const others = ["04252613", "24252614", "4252614", "004252614", "042100005264"]
    assert.deepStrictEqual(
      others.map((text) => parseBarcode(text).length),
      [1, 1, 1, 1, 1]
    )
  })
  it("is expanded from eight digits with exactly one check digit, in number systems 0 and 1", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 7, maxLength: 7 }), (digits) => {
        const long = [..."0123456789"].flatMap((check) => parseBarcode(`${digits}${check}`).slice(1))
        assert.strictEqual(long.length, digits < "2" ? 1 : 0)
      })
    )
  })
})
