import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { numberToken, PublishedNumber, parseJsonKeepingNumbers } from "./decimals.ts"

describe("the token of a published number", () => {
  it.each([
    ["1.6140", "1.6140"],
    ["13,594,473", "13594473"],
    ["1,234.50", "1234.50"],
    [".5", "0.5"],
    ["-.50", "-0.50"],
    ["+2.0", "2.0"],
    ["007.10", "7.10"],
    ["0", "0"],
    ["0.000", "0.000"],
    ["-0", "-0"],
    ["  2.15 ", "2.15"],
    ["4.00E+4", "4.00E+4"],
    ["9007199254740993", "9007199254740993"],
    ["0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"]
  ])("converts %j to %s", (text, expected) => {
    assert.strictEqual(numberToken(text), expected)
  })
  it.each([
    "",
    " ",
    "-",
    ".",
    "e5",
    "5.",
    "1,23",
    "12,34,567",
    ",123",
    "1,234,",
    "1 234",
    "1.2.3",
    "--1",
    "1e",
    "0x10",
    "NaN",
    "Infinity",
    "N/A",
    "$1.50",
    "1.50 USD",
    "１.5"
  ])("rejects %j", (text) => {
    assert.isUndefined(numberToken(text))
  })

  const digits = (minLength: number) =>
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength: 20 }).map((parts) => parts.join(""))
  const groupDigits = (whole: string) => whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")
  const printed = fc.record({
    sign: fc.constantFrom("", "-", "+"),
    whole: digits(1),
    commas: fc.boolean(),
    fraction: fc.option(digits(1), { nil: "" }),
    exponent: fc.constantFrom("", "", "e5", "E-3", "E+4")
  })

  it("is JSON for the same number, with every decimal place as printed", () => {
    fc.assert(
      fc.property(printed, ({ sign, whole, commas, fraction, exponent }) => {
        const rest = `${fraction === "" ? "" : `.${fraction}`}${exponent}`
        const token = numberToken(`${sign}${commas ? groupDigits(whole) : whole}${rest}`) ?? "none"
        assert.strictEqual(JSON.parse(token), Number(`${sign}${whole}${rest}`))
        assert.isTrue(token.endsWith(rest))
        assert.strictEqual(numberToken(token), token)
      })
    )
  })
  it("is valid JSON or undefined for any string", () => {
    const characters = fc.constantFrom(..."0123456789.,+-eE ".split(""))
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
        const token = numberToken(text)
        if (token !== undefined) assert.strictEqual(JSON.parse(token), Number(text.replaceAll(",", "")))
      })
    )
  })
})

describe("JSON parsed with its number tokens", () => {
  it("keeps every digit when it is serialized again", () => {
    const source = '{"price":1.6140,"big":12345678901234567890,"list":[-0,4.00E+4,[0.10]],"text":"1.50","none":null}'
    assert.strictEqual(JSON.stringify(parseJsonKeepingNumbers(source)), source)
  })
  it("distinguishes a number from a string that looks like one", () => {
    assert.deepStrictEqual(parseJsonKeepingNumbers('{"a":"1.50","b":1.50,"c":true}'), {
      a: "1.50",
      b: new PublishedNumber("1.50"),
      c: true
    })
  })
  it("has the same value as the JSON that was read", () => {
    fc.assert(
      fc.property(fc.json(), (source) => {
        const serialized = JSON.stringify(parseJsonKeepingNumbers(source))
        assert.deepStrictEqual(JSON.parse(serialized), JSON.parse(source))
      })
    )
  })
})
