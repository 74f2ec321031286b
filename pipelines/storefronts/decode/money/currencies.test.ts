import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { findCommonCodes, findDecimals } from "./currencies.ts"

const lines = readFileSync(new URL("currencies.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
const rows = lines.slice(1).map((line) => line.split("\t"))

describe("the table of currencies", () => {
  it("has each code once, in order, with its decimals by ISO 4217 and in practice", () => {
    assert.strictEqual(lines[0], "code\tdecimals\tused_decimals\tsymbols")
    const codes = rows.map(([code = ""]) => code)
    assert.deepStrictEqual(codes, [...new Set(codes)].toSorted())
    for (const [code = "", decimals = "", used = "", symbols, ...others] of rows) {
      assert.match(code, /^[A-Z]{3}$/)
      assert.include(["0", "2", "3", "4"], decimals, code)
      assert.include(["0", decimals], used, code)
      assert.deepStrictEqual([typeof symbols, others], ["string", []], code)
    }
  })

  it.each(
    (
      "USD en-US,USD fr-CA,CAD en-CA,CAD fr,AUD en-AU,NZD en-NZ,MXN es-MX,ARS es-AR,CLP es-CL,COP es-CO,PEN es-PE,BRL pt-BR," +
      "UYU es-UY,PYG es-PY,BOB es-BO,CRC es-CR,GTQ es-GT,DOP es-DO,NIO es-NI,HNL es-HN,VES es-VE,EUR de,GBP en-GB,CHF de-CH," +
      "SEK sv,NOK nb,DKK da,ISK is,PLN pl,CZK cs,HUF hu,RON ro,BGN bg,UAH uk,RUB ru,BYN ru,MDL ro,RSD sr,MKD mk,ALL sq,TRY tr," +
      "GEL ka,AMD hy,AZN az,KZT kk,ILS he,AED ar-AE,SAR ar-SA,KWD ar-KW,QAR ar-QA,BHD ar-BH,OMR ar-OM,JOD ar-JO,EGP ar-EG," +
      "MAD ar-MA,TND ar-TN,DZD ar-DZ,LYD ar-LY,IQD ar-IQ,YER ar-YE,INR hi,BDT bn,PKR ur,LKR si,THB th,VND vi,IDR id,MYR ms," +
      "PHP fil,SGD en-SG,HKD zh-HK,TWD zh-TW,CNY zh,JPY ja,KRW ko,MNT mn,KHR km,LAK lo,ZAR en-ZA,NGN en-NG,KES sw,GHS en-GH," +
      "XOF fr-SN,XAF fr-CM,CDF fr-CD,MGA fr-MG,ETB am,XPF fr,AOA pt-AO,MZN pt-MZ"
    ).split(",")
  )("knows the symbols of %s, as ICU writes them there", (pair) => {
    const [currency = "", locale] = pair.split(" ")
    for (const currencyDisplay of ["symbol", "narrowSymbol"] as const) {
      const parts = new Intl.NumberFormat(locale, { style: "currency", currency, currencyDisplay }).formatToParts(1)
      const symbol = parts.find(({ type }) => type === "currency")?.value.replace(/[\u200e\u200f\u061c]/g, "") ?? ""
      assert.include([...findCommonCodes(symbol.trim().split(/\s+/))], currency, symbol)
    }
  })

  it.each([
    ["JPY", 0, 0],
    ["KWD", 3, 3],
    ["IDR", 2, 0],
    ["COP", 2, 0],
    ["HUF", 2, 0],
    ["EUR", 2, 2],
    ["XYZ", 2, 2],
    [null, 2, 2]
  ])("gives %s %i decimals, and %i in practice", (code, decimals, used_decimals) => {
    assert.deepStrictEqual(findDecimals(code), { decimals, used_decimals })
  })
})

describe("the marks of a currency", () => {
  it.each([
    [["usd"], ["USD"]],
    [["$", "CAD"], ["CAD"]],
    [["CAD$"], ["CAD"]],
    [["$cad"], ["CAD"]],
    [["US", "$"], ["USD"]],
    [["Rs."], ["INR", "LKR", "MUR", "NPR", "PKR", "SCR"]],
    [["da"], []],
    [["KR"], ["DKK", "ISK", "NOK", "SEK"]],
    [["€", "USD"], []],
    [["pieces"], []],
    [[""], []]
  ])("%j mean %j", (marks, codes) => {
    assert.deepStrictEqual([...findCommonCodes(marks)].toSorted(), codes)
  })
})
