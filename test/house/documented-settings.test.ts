/** Compares the table of settings with docs/configuration.md, docs/contributing.md, and what the programs read. */
import { settingSections, testSettings } from "@larder/schemas/settings.ts"
import { describe, expect, it } from "vitest"
import { everyDocument, findInlineCode, readDocument, readSources } from "./documents.ts"

const rooms = ["schemas", "warehouse", "pipelines", "serve"]
const sources = readSources(rooms, (file) => !file.endsWith(".test.ts") && file !== "schemas/settings.ts")
const tests = readSources([...rooms, "test"], (file) => file.startsWith("test/") || file.endsWith(".test.ts"))
const findNames = (texts: ReadonlyArray<string>, pattern: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))
]

const settings = settingSections.flatMap((section) => Object.entries(section.settings))
const names = settings.map(([name]) => name)
const inFiles = settings.flatMap(([name, { inFile }]) => (inFile ? [`${name}_FILE`] : []))
const read = findNames(sources, /"((?:LARDER|MARS|AWS)_[A-Z0-9_]+)"/g)
const configuration = readDocument("docs/configuration.md").text
const contributing = readDocument("docs/contributing.md").text

/** Without links: only the documents have them. */
const removeLinks = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")

/** The rows of the table below a heading, as cells. */
const findRows = (title: string) => {
  const [, section = ""] = new RegExp(`^## ${title}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(configuration) ?? []
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = ""]) => removeLinks(row).split(/ ?\| /))
}

describe("the settings", () => {
  it.each(settingSections.map((section) => [section.title, section] as const))(
    "of %s are those of docs/configuration.md, with their default and meaning",
    (title, section) => {
      const expected = Object.entries(section.settings).map(([name, { default: value, meaning, otherwise }]) => [
        `\`${name}\``,
        value === undefined ? (otherwise ?? "") : `\`${value}\``,
        meaning.replaceAll("`examples`", "examples")
      ])
      const documented = findRows(title).map(([name = "", otherwise = "", meaning = ""]) => [
        name,
        /^`LARDER_/.test(otherwise) ? otherwise.replaceAll("`", "") : otherwise,
        meaning.replaceAll("`examples`", "examples")
      ])
      expect(documented).toEqual(expected)
    }
  )

  it("are all that the programs read, and the programs read all of them", () => {
    expect(read).toEqual(expect.arrayContaining(["LARDER_HOME", "LARDER_SOURCES", "MARS_API_KEY", "LARDER_PORT"]))
    expect(read.filter((name) => !names.includes(name))).toEqual([])
    const ofPrograms = settingSections.filter(({ programs }) => programs.length > 0)
    const own = ofPrograms
      .flatMap(({ settings }) => Object.keys(settings))
      .filter((name) => /^(LARDER|MARS)_/.test(name))
    expect(own.filter((name) => !read.includes(name))).toEqual([])
  })

  it("that a file may contain are all named in docs/configuration.md", () => {
    expect(findNames([configuration], /`(\w+_FILE)`/g).sort()).toEqual([...inFiles].sort())
  })

  it("of the tests are in a table of docs/contributing.md", () => {
    expect(findNames(tests, /\b(LARDER_(?:TEST|CRASH|SCREENSHOTS|CHROMIUM|RECORD)[A-Z_]*)\b/g).sort()).toEqual(
      [...testSettings].sort()
    )
    const listed = findNames([contributing], /^\| `([A-Z_]+)` \|/gm)
    expect(testSettings.filter((name) => !listed.includes(name))).toEqual([])
  })

  it("are the only ones that the documents name", () => {
    const service = ["LARDER_SERVICE_HOST", "LARDER_SOURCE"] // what Kubernetes sets, and a misspelled one
    const known = new Set([...names, ...inFiles, ...testSettings, ...service])
    const named = everyDocument.flatMap((document) =>
      findInlineCode(document).flatMap((code) => code.match(/\b(?:LARDER|MARS)_[A-Z_]+\b/g) ?? [])
    )
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
  })
})
