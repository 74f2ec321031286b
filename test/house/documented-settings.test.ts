/** Compares the settings of programs with docs/configuration.md, and those of tests with docs/contributing.md. */
import { describe, expect, it } from "vitest"
import { everyDocument, findInlineCode, readDocument, readSources } from "./documents.ts"

const rooms = ["schemas", "warehouse", "pipelines", "serve"]
const sources = readSources(rooms, (file) => !file.endsWith(".test.ts"))
const tests = readSources([...rooms, "test"], (file) => file.startsWith("test/") || file.endsWith(".test.ts"))
const findNames = (texts: ReadonlyArray<string>, pattern: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))
]

const settings = findNames(sources, /"((?:LARDER|MARS)_[A-Z_]+)"/g)
/** Settings of the tests themselves. */
const testSettings = findNames(tests, /\b(LARDER_(?:TEST|CRASH|SCREENSHOTS|CHROMIUM|RECORD)[A-Z_]*)\b/g)
const configuration = readDocument("docs/configuration.md").text
const contributing = readDocument("docs/contributing.md").text

/** The first column of the tables. */
const findListed = (text: string) => [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] ?? "")

describe("the documented settings", () => {
  it("include every setting of the programs, in a table of docs/configuration.md", () => {
    expect(settings).toEqual(expect.arrayContaining(["LARDER_HOME", "LARDER_SOURCES", "MARS_API_KEY", "LARDER_PORT"]))
    expect(settings.filter((name) => !findListed(configuration).includes(name))).toEqual([])
  })

  it("include every setting of the tests, in a table of docs/contributing.md", () => {
    expect(testSettings).toEqual(expect.arrayContaining(["LARDER_TEST_SEED", "LARDER_CRASH_SEED"]))
    expect(testSettings.filter((name) => !findListed(contributing).includes(name))).toEqual([])
  })

  it("are each explained once", () => {
    const listed = [...findListed(configuration), ...findListed(contributing)]
    expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([])
  })

  it("are all read by a program or a test", () => {
    const known = new Set([...settings, ...testSettings, "LARDER_API_KEY", "LARDER_URL"]) // examples/ reads these two
    const named = everyDocument.flatMap((document) =>
      findInlineCode(document).flatMap((code) => code.match(/\b(?:LARDER|MARS)_[A-Z_]+\b/g) ?? [])
    )
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
  })
})
