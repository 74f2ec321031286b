import { assert, describe, it } from "@effect/vitest"
import { parseMoney } from "./prices.ts"

describe("amounts of money", () => {
  it.each([
    ["15.00 USD", "15", "USD"],
    ["9999 KES", "9999", "KES"],
    ["AED 15", "15", "AED"],
    ["15.5eur", "15.5", "EUR"],
    ["250.00", "250", null],
    ["1,299.00 USD", "1299", "USD"],
    ["1,299 USD", "1299", "USD"],
    ["1.299,50 EUR", "1299.5", "EUR"],
    ["12,50 EUR", "12.5", "EUR"],
    ["1 299,00 SEK", "1299", "SEK"],
    ["1\u00a0299.00\u00a0SEK", "1299", "SEK"],
    ["1'299.00 CHF", "1299", "CHF"],
    ["1.299.000 VND", "1299000", "VND"],
    ["12.345 KWD", "12.345", "KWD"],
    ["0 TRY", "0", "TRY"]
  ])("reads %j as %s in %s", (text, amount, currency) => {
    assert.deepStrictEqual(parseMoney(text), { amount, currency })
  })

  it.each([
    "",
    "free",
    "USD",
    "-5 USD",
    "$15",
    "15 €",
    "USD 15 EUR",
    "15.00 USD/kg",
    "1e3 USD",
    "1,2,3 USD",
    "AE:::0 AED"
  ])("reads no amount from %j", (text) => {
    assert.isNull(parseMoney(text))
  })

  it("finds no amount in a text of 500,000 characters or more", () => {
    assert.isNull(parseMoney(`1${" ".repeat(500_000)}x`))
    assert.isNull(parseMoney(`${"1,".repeat(400_000)}x`))
  })
})
