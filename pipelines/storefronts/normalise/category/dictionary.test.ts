import { describe, expect, it } from "vitest"
import { loadDictionary, parseList, readWord, readWordLists } from "./dictionary.ts"
import { findNode } from "./taxonomy.ts"

const stripMarks = (written: string) => written.replace(/^[~!]/, "")
const isSorted = (texts: ReadonlyArray<string>) => texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") <= text)

describe.each(readWordLists())("the list of words in $language", ({ sections }) => {
  it("has only paths of the taxonomy, none deeper than the served levels", () => {
    const wrong = sections.filter(({ path }) => {
      const node = findNode(path)
      return node === undefined || node.depth > (node.category === "food_beverages_and_tobacco" ? 3 : 2)
    })
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it("sorts its paths, and the words below each path", () => {
    expect(isSorted(sections.map(({ path }) => path))).toBe(true)
    expect(sections.filter(({ words }) => !isSorted(words.map(stripMarks))).map(({ path }) => path)).toEqual([])
  })

  it("has no word twice, not even in the plural", () => {
    const keys = new Set<string>()
    const duplicates: Array<string> = []
    for (const written of sections.flatMap(({ words }) => words)) {
      const { key } = readWord(written)
      if (keys.has(key)) duplicates.push(written)
      keys.add(key)
    }
    expect(duplicates).toEqual([])
  })
})

describe("the dictionary", () => {
  it("covers all 21 top levels", () => {
    const tops = new Set([...loadDictionary().entries.values()].map(({ category }) => category))
    expect(tops.size).toBe(21)
  })

  it("includes names of the taxonomy that are in no list", () => {
    expect(loadDictionary().entries.get("bicycle bottom bracket")).toMatchObject({ sub_category: "outdoor_recreation" })
  })
})

describe("an invalid list of words", () => {
  it.each([
    [
      "a path that does not exist",
      "# English\n\n[Apparel > Clothing]\nshirt\n",
      /words\/en\.txt, line 3: "Apparel > Clothing" is not a path/
    ],
    ["a word without a path", "# English\nshirt\n", /words\/en\.txt, line 2: "shirt" is not below a path/]
  ])("is one error with file and line: %s", (_, text, message) => {
    expect(() => parseList("en", text)).toThrow(message)
  })
})
