import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { BadLine } from "../../run/files/hand-edited.ts"
import { countries, countryNames, parseDictionaries } from "./dictionaries.ts"

type Name = Parameters<Parameters<typeof parseDictionaries>[0]>[0]
const readText = (name: Name) => readFileSync(new URL(`../dictionaries/${name}.tsv`, import.meta.url), "utf8")

describe("an invalid line of a dictionary", () => {
  it.each<readonly [string, Name, (text: string) => string, line: number, column: string | null]>([
    ["an id that is not a number", "nutrients", (text) => text.replace("1002\t", "1OO2\t"), 3, "nutrient_id"],
    ["a duplicate id", "nutrients", (text) => text.replace("1002\t", "1001\t"), 3, "nutrient_id"],
    ["a missing cell", "nutrients", (text) => text.replace("\tNitrogen", ""), 3, null],
    ["a code that is not of two letters", "countries", (text) => text.replace("UAE\tAE", "UAE\tARE"), 2, "code"],
    ["a duplicate code", "derivations", (text) => text.replace("2\tAI\t", "2\tA\t"), 3, "derivation"]
  ])("is one error with file, line and column: %s", (_, edited, edit, line, column) => {
    const parse = () => parseDictionaries((name) => (name === edited ? edit(readText(name)) : readText(name)))
    try {
      parse()
      assert.fail("it was accepted")
    } catch (error) {
      assert.instanceOf(error, BadLine)
      assert.deepInclude(error, { file: `pipelines/branded-foods/dictionaries/${edited}.tsv`, line, column })
    }
  })
})

describe("the names of countries", () => {
  const codes = new Map(countries())
  it.each([
    ["Turkey", "TR"],
    ["Türkiye", "TR"],
    ["Hong Kong", "HK"],
    ["Viet Nam", "VN"],
    ["Korea, Republic of", "KR"],
    ["Korea (the Democratic People's Republic of)", "KP"],
    ["Russian Federation", "RU"],
    ["Czech Republic", "CZ"],
    ["Ivory Coast", "CI"],
    ["Taiwan, Province of China", "TW"],
    ["Iran (Islamic Republic of)", "IR"],
    ["Bolivia (Plurinational State of)", "BO"],
    ["Macedonia", "MK"],
    ["Swaziland", "SZ"],
    ["UK", "GB"],
    ["Lao People's Democratic Republic", "LA"],
    ["hk", "HK"]
  ])("include %s for %s", (name, code) => {
    assert.strictEqual(codes.get(name.toLowerCase()), code)
  })
  it("have codes that the Unicode data has too, and occur once in any case", () => {
    assert.deepStrictEqual(
      countryNames.filter(({ code }) => codes.get(code.toLowerCase()) !== code),
      []
    )
    assert.strictEqual(new Set(countryNames.map(({ name }) => name.toLowerCase())).size, countryNames.length)
  })
  it("never contradict the Unicode data", () => {
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
    const unicode = new Map(countryNames.map(({ code }) => [names.of(code)?.toLowerCase(), code]))
    const contradicting = countryNames.filter(({ code, name }) => (unicode.get(name.toLowerCase()) ?? code) !== code)
    assert.deepStrictEqual(contradicting, [])
  })
})
