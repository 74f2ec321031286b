import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { BadLine } from "../../run/files/hand-edited.ts"
import { parseDictionaries } from "./dictionaries.ts"

type Name = Parameters<Parameters<typeof parseDictionaries>[0]>[0]
const readText = (name: Name) => readFileSync(new URL(`../dictionaries/${name}.tsv`, import.meta.url), "utf8")

describe("an invalid line of a dictionary", () => {
  it.each<readonly [string, Name, (text: string) => string, line: number, column: string | null]>([
    ["an id that is not a number", "nutrients", (text) => text.replace("1002\t", "1OO2\t"), 3, "nutrient_id"],
    ["a duplicate id", "nutrients", (text) => text.replace("1002\t", "1001\t"), 3, "nutrient_id"],
    ["a missing cell", "nutrients", (text) => text.replace("\tNitrogen", ""), 3, null],
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
