import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  compareDecimals,
  dropLowerPrice,
  normalizeText,
  parseDecimal,
  parseMinorUnits,
  parseTime,
  parseWebAddress,
  splitAddresses
} from "./texts.ts"

describe("normalized texts", () => {
  it.each([
    ["Annie's Organic Farm ", "Annie's Organic Farm"],
    ["  Sea   salt\n\tflakes ", "Sea salt flakes"],
    ["\u00a0Crème\u00a0\u00a0fraîche\u202f", "Crème fraîche"],
    ["a\u0000b", "a b"],
    ["half a pair: \ud83d", "half a pair:"],
    [4711, "4711"]
  ])("%j becomes %j", (text, expected) => {
    assert.strictEqual(normalizeText(text), expected)
  })

  it.each(["", " ", "\u00a0\n", null, undefined, true, {}, Number.NaN])("%j becomes null (case %#)", (text) => {
    assert.isNull(normalizeText(text))
  })

  it("are truncated to at most 10,000 characters", () => {
    assert.strictEqual(normalizeText(`${"word ".repeat(5_000_000)}`)?.length, 9999)
    assert.strictEqual(normalizeText(`a${" ".repeat(20_000_000)}`), "a")
  })
})

describe("prices", () => {
  it.each([
    ["520.00", "520"],
    ["9999", "9999"],
    ["0.50", "0.5"],
    [".5", "0.5"],
    ["0.00", "0"],
    ["007.10", "7.1"],
    ["1,299.90", "1299.9"],
    [" 12.345 ", "12.345"],
    [12.5, "12.5"],
    ["9999999999999.9999", "9999999999999.9999"],
    ["9999999999999.99999", "10000000000000"],
    ["0.33335", "0.3334"],
    ["12.00004999", "12"],
    ["0.00004", "0"]
  ])("%j is read as %s", (text, expected) => {
    assert.strictEqual(parseDecimal(text), expected)
  })

  it.each([
    "",
    "free",
    "-1",
    "12,50",
    "1e3",
    "15.00 USD",
    "1.2.3",
    "10000000000000",
    "99999999999999.99999",
    `0.${"0".repeat(90)}1`,
    null,
    {}
  ])("%j is not a price", (text) => {
    assert.isNull(parseDecimal(text))
  })

  it.each([
    ["277666", 2, "2776.66"],
    ["5", 2, "0.05"],
    ["0", 2, "0"],
    ["277666", 0, "277666"],
    ["12345", 3, "12.345"],
    ["1500", 2, "15"],
    ["123456789", 8, "1.2346"],
    [1500, 2, "15"]
  ])("%j in units of 10^-%i is %s", (amount, unit, expected) => {
    assert.strictEqual(parseMinorUnits(amount, unit), expected)
  })

  it.each([
    ["12.5", 2],
    ["-5", 2],
    ["", 2],
    ["5", -1],
    ["5", 1.5],
    ["5", Number.NaN],
    ["5", 90],
    ["999999999999999999", 2]
  ])("%j in units of 10^-%d is not a price", (amount, unit) => {
    assert.isNull(parseMinorUnits(amount, unit))
  })

  it("are compared as numbers, even beyond the precision of a double", () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 17n - 1n })
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        const [x, y] = [parseMinorUnits(String(a), 4) ?? "", parseMinorUnits(String(b), 4) ?? ""]
        assert.strictEqual(Math.sign(compareDecimals(x, y)), Number(a > b) - Number(a < b))
      })
    )
    assert.isBelow(compareDecimals("9007199254740.991", "9007199254740.992"), 0)
  })

  it.each([
    ["12.5", "12.49", "12.5"],
    ["100", "99.99", "100"],
    ["12.5", "12.5", null],
    ["9.99", "10", null],
    ["0", "10", null],
    ["10", null, null],
    [null, "10", null]
  ])("a price of %s before a reduction to %s becomes %s", (compareAt, price, expected) => {
    assert.strictEqual(dropLowerPrice(compareAt, price), expected)
  })
})

describe("times", () => {
  it.each([
    ["2026-06-06T18:11:05+05:30", "2026-06-06T12:41:05.000Z"],
    ["2026-01-01T00:30:00+02:00", "2025-12-31T22:30:00.000Z"],
    ["2026-06-06 18:11:05.25 +0200", "2026-06-06T16:11:05.250Z"],
    ["2026-06-06T18:11Z", "2026-06-06T18:11:00.000Z"],
    ["2024-02-29T12:00:00.123456Z", "2024-02-29T12:00:00.123Z"]
  ])("%s is %s in UTC", (text, expected) => {
    assert.strictEqual(parseTime(text), expected)
  })

  it.each([
    "",
    "2026-06-06",
    "2026-06-06T18:11:05",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-06-06T25:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:00:00-05:00",
    "yesterday",
    1_780_740_505,
    null
  ])("%j is not a time", (text) => {
    assert.isNull(parseTime(text))
  })
})

describe("addresses", () => {
  it.each([
    ["https://cdn.example.com/a.jpg?v=1780740505", "https://cdn.example.com/a.jpg?v=1780740505"],
    ["//cdn.example.com/a b.jpg", "https://cdn.example.com/a b.jpg"],
    [" HTTP://example.com/a.png ", "HTTP://example.com/a.png"],
    ["javascript:alert(1)", null],
    ["data:image/png;base64,AAAA", null],
    ["/cdn/a.jpg", null],
    ["https://example.com/a.jpg?a=1&amp;b=2", "https://example.com/a.jpg?a=1&b=2"],
    ["https://example.com/a\u0000.jpg", null],
    ["https://example.com/a\n.jpg", null],
    ["https://example.com/a&#10;.jpg", null],
    ["https://", null],
    ["", null],
    [null, null]
  ])("%j becomes %j", (text, expected) => {
    assert.strictEqual(parseWebAddress(text), expected)
  })

  it("are null when they are longer than 4,096 characters", () => {
    const longest = `https://example.com/${"a".repeat(4076)}`
    assert.deepStrictEqual([parseWebAddress(longest), parseWebAddress(`${longest}a`)], [longest, null])
  })

  it("are split without delay from a long list, or from separators alone", () => {
    const address = "https://example.com/a,b.jpg"
    assert.deepStrictEqual(splitAddresses(`${address}, ${address};`), [address, address])
    assert.deepStrictEqual(splitAddresses("//cdn.example/a.jpg,//cdn.example/b.jpg"), [
      "//cdn.example/a.jpg",
      "//cdn.example/b.jpg"
    ])
    assert.strictEqual(splitAddresses(`${address}|`.repeat(30_000)).length, 30_000)
    assert.deepStrictEqual(splitAddresses(`${address}${",".repeat(900_000)}${address}`), [address, address])
  })
})
