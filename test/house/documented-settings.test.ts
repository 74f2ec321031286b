/** Settings: each variable that the programs read is in docs/configuration.md, each of the tests in docs/contributing.md. */
import { describe, expect, it } from "vitest"
import { codesIn, documentAt, everyDocument, sourcesIn } from "./documents.ts"

const rooms = ["schemas", "warehouse", "pipelines", "serve"]
const sources = sourcesIn(rooms, (file) => !file.endsWith(".test.ts"))
const tests = sourcesIn([...rooms, "test"], (file) => file.startsWith("test/") || file.endsWith(".test.ts"))
const namesIn = (texts: ReadonlyArray<string>, pattern: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))
]

const settings = namesIn(sources, /"((?:LARDER|MARS)_[A-Z_]+)"/g)
/** Of tests alone: what they set for the programs under test is a setting of these. */
const ofTests = namesIn(tests, /\b(LARDER_(?:TEST|CRASH|SCREENSHOTS|CHROMIUM|RECORD)[A-Z_]*)\b/g)
const configuration = documentAt("docs/configuration.md").text
const contributing = documentAt("docs/contributing.md").text

/** The first column of the tables. */
const listedIn = (text: string) => [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] ?? "")

describe("the documented settings", () => {
  it("include every setting of the programs, in a table of docs/configuration.md", () => {
    expect(settings).toEqual(expect.arrayContaining(["LARDER_HOME", "LARDER_SOURCES", "MARS_API_KEY", "LARDER_PORT"]))
    expect(settings.filter((name) => !listedIn(configuration).includes(name))).toEqual([])
  })

  it("include every setting of the tests, in a table of docs/contributing.md", () => {
    expect(ofTests).toEqual(expect.arrayContaining(["LARDER_TEST_SEED", "LARDER_CRASH_SEED"]))
    expect(ofTests.filter((name) => !listedIn(contributing).includes(name))).toEqual([])
  })

  it("are each explained once", () => {
    const listed = [...listedIn(configuration), ...listedIn(contributing)]
    expect(listed.filter((name, at) => listed.indexOf(name) !== at)).toEqual([])
  })

  it("are all read somewhere", () => {
    const known = new Set([...settings, ...ofTests, "LARDER_URL"]) // examples/ reads LARDER_URL
    const named = everyDocument.flatMap((document) =>
      codesIn(document).flatMap((code) => code.match(/\b(?:LARDER|MARS)_[A-Z_]+\b/g) ?? [])
    )
    const placeholders = new Set(["LARDER_FOLDER"])
    expect([...new Set(named)].filter((name) => !known.has(name) && !placeholders.has(name))).toEqual([])
  })
})
