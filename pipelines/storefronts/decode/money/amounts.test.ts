import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type AmountContext, currencyType, findDecimalSeparator, readAmount, SeparatorUnknown } from "./amounts.ts"

const read = (text: string, context: Partial<AmountContext> = {}) =>
  readAmount(text, { currency: null, separator: null, ...context })
const problemOf = (text: string, context: Partial<AmountContext> = {}) => {
  const amount = read(text, context)
  return "problem" in amount ? amount.problem : assert.fail(`${text} was read as ${amount.amount}`)
}
const amountOf = (text: string, context: Partial<AmountContext> = {}) => {
  const amount = read(text, context)
  return "problem" in amount ? assert.fail(`${text} was not read: it is an amount ${amount.problem}`) : amount.amount
}

describe("an amount of money", () => {
  it.each([
    ["15.00 USD", "15", "USD"],
    ["9999 KES", "9999", "KES"],
    ["AED 15", "15", "AED"],
    ["15.5eur", "15.5", "EUR"],
    ["250.00", "250", null],
    ["1,299.00 USD", "1299", "USD"],
    ["1.299,50 EUR", "1299.5", "EUR"],
    ["12,50 EUR", "12.5", "EUR"],
    ["1 299,00 SEK", "1299", "SEK"],
    ["1\u00a0299.00\u00a0SEK", "1299", "SEK"],
    ["1'299.00 CHF", "1299", "CHF"],
    ["1 299,500 EUR", "1299.5", "EUR"],
    ["1234.567 EUR", "1234.567", "EUR"],
    ["0,500 EUR", "0.5", "EUR"],
    ["1.299.000 VND", "1299000", "VND"],
    ["1,00,000.00 INR", "100000", "INR"],
    [".89 USD", "0.89", "USD"],
    [",89 EUR", "0.89", "EUR"],
    ["$.89 USD", "0.89", "USD"],
    ["12,- EUR", "12", "EUR"],
    ["1.299,- EUR", "1299", "EUR"],
    ["1.299.- CHF", "1299", "CHF"],
    ["1'299.– CHF", "1299", "CHF"],
    ["12 990,- Kč", "12990", "CZK"],
    ["€ 1.299,-", "1299", "EUR"],
    ["€ .89", "0.89", "EUR"],
    ["12.– CHF", "12", "CHF"],
    ["99 ,- EUR", "99", "EUR"],
    ["1.299:-", "1299", "SEK"],
    ["₹ 1,299/-", "1299", "INR"],
    ["\u200b5 EUR.\ufeff", "5", "EUR"],
    ["12 euro", "12", "EUR"],
    ["0 TRY", "0", "TRY"],
    ["\u200f15 SAR\u200f", "15", "SAR"]
  ])("is read from %j as %s in %s", (text, amount, currency) => {
    assert.deepStrictEqual(read(text), { amount, currency })
  })

  it.each([
    "",
    "free",
    "USD",
    "-5 USD",
    "USD 15 EUR",
    "15.00 USD/kg",
    "1e3 USD",
    "1,2,3 USD",
    "1.29.9 EUR",
    "10 20 USD",
    "10.00 - 20.00 USD",
    "10.-20",
    "12.50,- EUR",
    "da 10.00",
    "nu 9,95",
    "1.299,000,00 EUR",
    "5 pcs",
    "AE:::0 AED",
    "99999999999999 USD"
  ])("is not %j", (text) => {
    assert.strictEqual(problemOf(text), "which is not an amount")
  })

  it("is not a text of 500,000 characters or more", () => {
    assert.strictEqual(problemOf(`1${" ".repeat(500_000)}x`), "which is not an amount")
    assert.strictEqual(problemOf(`${"1,".repeat(400_000)}x`), "which is not an amount")
  })
})

describe("one separator with three digits", () => {
  it.each([
    ["12.990 CLP", "12990"],
    ["45.000 VND", "45000"],
    ["1,500 JPY", "1500"],
    ["12.990 IDR", "12990"],
    ["1.299 HUF", "1299"],
    ["89.000 COP", "89000"]
  ])("means thousands in %s, a currency without decimals in practice", (text, amount) => {
    assert.strictEqual(amountOf(text, { separator: undefined }), amount)
  })

  it.each([
    ["12.500 KWD", "12.5"],
    ["0.750 BHD", "0.75"],
    ["12,345 JOD", "12.345"]
  ])("means a fraction in %s, a currency with three decimals", (text, amount) => {
    assert.strictEqual(amountOf(text, { separator: undefined }), amount)
  })

  it.each([
    ["1.299 EUR", ",", "1299"],
    ["1.299 EUR", ".", "1.299"],
    ["1,299 EUR", ".", "1299"],
    ["1,299 EUR", ",", "1.299"]
  ] as const)(
    "is read in %s as the other prices of the file show, with %j before fractions",
    (text, separator, amount) => {
      assert.deepStrictEqual(read(text, { separator }), { amount, currency: "EUR" })
    }
  )

  it("means thousands if it is a comma and no other price shows anything; a point is rejected", () => {
    assert.deepStrictEqual(read("1,299 USD"), { amount: "1299", currency: "USD" })
    assert.match(problemOf("1.299 USD"), /^whose point may be a decimal or a thousands separator/)
  })

  it("needs the other prices of the file to be read first", () => {
    assert.throws(() => read("1.299 EUR", { separator: undefined }), SeparatorUnknown)
  })

  it("is read with the currency of the store if the amount names none", () => {
    assert.deepStrictEqual(read("45.000", { currency: "VND" }), { amount: "45000", currency: null })
    assert.deepStrictEqual(read("12.500", { currency: "KWD" }), { amount: "12.5", currency: null })
  })
})

describe("a currency without decimals", () => {
  it.each([
    ["1200.00 JPY", "1200"],
    ["45.000,00 VND", "45000"],
    ["89000.0 KRW", "89000"]
  ])("loses a fraction of zeros: %s is %s", (text, amount) => {
    assert.strictEqual(amountOf(text), amount)
  })

  it("rejects any other fraction, except where only practice has none", () => {
    assert.strictEqual(problemOf("12.50 JPY"), "which has a fraction, and JPY has none")
    assert.strictEqual(problemOf("0.500", { currency: "CLP" }), "which has a fraction, and CLP has none")
    assert.deepStrictEqual(read("12.50 IDR"), { amount: "12.5", currency: "IDR" })
  })
})

describe("the symbol of a currency", () => {
  it.each([
    ["12,34 €", "12.34", "EUR"],
    ["€12.34", "12.34", "EUR"],
    ["£9.99", "9.99", "GBP"],
    ["US$ 20", "20", "USD"],
    ["1 299,00 Kč", "1299", "CZK"],
    ["₹ 1,999.00", "1999", "INR"],
    ["R$ 11,19", "11.19", "BRL"],
    ["49,90 zł", "49.9", "PLN"],
    ["₫ 45.000", "45000", "VND"],
    ["₩89,000", "89000", "KRW"],
    ["RM12.50", "12.5", "MYR"],
    ["Rp12.990", "12990", "IDR"],
    ["199:-", "199", "SEK"],
    ["£9.99 GBP", "9.99", "GBP"],
    ["$9.99 CAD", "9.99", "CAD"],
    ["CAD$9.99", "9.99", "CAD"],
    ["CA$9.99", "9.99", "CAD"],
    ["9,99 $CA", "9.99", "CAD"],
    ["US $5", "5", "USD"],
    ["15 د.إ.", "15", "AED"],
    ["1 299 ft", "1299", "HUF"],
    ["12.990 VNĐ", "12990", "VND"]
  ])("is read in %j as %s %s", (text, amount, currency) => {
    assert.deepStrictEqual(read(text, { currency: "EUR" }), { amount, currency })
  })

  it.each([
    ["$2,030", "CAD", "2030"],
    ["12.99 $", "AUD", "12.99"],
    ["¥1,500", "JPY", "1500"],
    ["¥15.50", "CNY", "15.5"],
    ["99,90 kr", "SEK", "99.9"],
    ["99,90 KR.", "NOK", "99.9"],
    ["C$9.99", "NIO", "9.99"],
    ["5 000 F CFA", "XOF", "5000"],
    ["150 руб.", "BYN", "150"],
    ["Fr. 5", "CHF", "5"],
    ["Rs.500", "PKR", "500"],
    ["Rs. 1,500.50", "INR", "1500.5"]
  ])("that several have is that of the store: %j in a store with %s", (text, currency, amount) => {
    assert.deepStrictEqual(read(text, { currency }), { amount, currency })
  })

  it("that several have is rejected in a store with no currency, or with one that does not have it", () => {
    assert.strictEqual(
      problemOf("$10.00"),
      'whose symbol "$" belongs to several currencies: add "currency" to the store in the store list'
    )
    assert.strictEqual(problemOf("12.99 $", { currency: "EUR" }), 'whose symbol "$" is not one of EUR')
    assert.strictEqual(problemOf("€9.99 GBP"), "which is not an amount")
  })

  it("may be what a field for the currency states", () => {
    const { explain, read } = currencyType({ currency: "AUD" })
    const texts = ["usd", "€", "$", "US$", "Euro", "kr", "coins"]
    assert.deepStrictEqual(texts.map(read), ["USD", "EUR", "AUD", "USD", "EUR", undefined, undefined])
    assert.deepStrictEqual(
      ["kr", "coins"].map((text) => explain?.(text)),
      ['whose symbol "kr" is not one of AUD', undefined]
    )
  })
})

describe("a usual amount", () => {
  it("is read as it would be with marks around it, in any currency", () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,8})(\.\d\d?)?$/)
    const code = fc.constantFrom("", " EUR", " JPY", " IDR", " KWD", " ABC")
    const currency = fc.constantFrom(null, "USD", "CLP", "BHD")
    fc.assert(
      fc.property(digits, code, currency, (number, suffix, currency) => {
        const text = number + suffix
        assert.deepStrictEqual(read(text, { currency }), read(`\u200e${text}`, { currency }))
      })
    )
  })
})

describe("what a price shows about the others", () => {
  it.each([
    ["9,90", ","],
    ["9.90 EUR", "."],
    ["1.299,00", ","],
    ["1.299.000", ","],
    ["1 299,500", ","],
    ["12,-", ","],
    ["1.299,-", ","],
    ["1.299.-", ","],
    ["1.299:-", ","],
    ["199:-", null],
    [".500", "."],
    ["1.299", null],
    ["1,299", null],
    ["1299", null],
    ["on request", null]
  ] as const)("is shown by %j as %j before fractions", (text, separator) => {
    assert.strictEqual(findDecimalSeparator(text), separator)
  })
})
