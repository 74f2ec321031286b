/** The store list of `--stores`: what it replaces, and which commands refuse it. */
import { readdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { run } from "../support/programs.ts"
import { makeTestFolder, parseRunRecord, rebuildFrom } from "./ingesting.ts"
import { ingestStores, type Listed, outcomesOf, shopifyPages, writeFiles } from "./storefronts.ts"

const csv = "Handle,Title,Variant Price\nrye,Rye bread,2.50\nspelt,Spelt bread,3.20\n"
const bakery: Listed = { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: "bakery.csv" }
const other: Listed = { ...bakery, domain: "other.example", location: "other.csv" }

/** Writes a list of the bakery, a list of the other store, and their exports. */
const setUp = () => {
  const files = writeFiles(makeTestFolder(), { "bakery.csv": csv, "other.csv": csv })
  const lists = writeFiles(makeTestFolder(), { "bakery.json": [bakery], "other.json": [other] })
  return { files, given: path.join(lists, "bakery.json"), configured: path.join(lists, "other.json") }
}

describe("a list of stores given with --stores", () => {
  it.each(["sample", "live"])("is read live instead of LARDER_STORES when LARDER_SOURCES is %s", async (sources) => {
    const { configured, files, given } = setUp()
    const home = makeTestFolder()
    const { code, stderr, stdout } = await ingestStores(home, ["--stores", given], {
      LARDER_SOURCES: sources,
      LARDER_STORES: configured,
      LARDER_STORE_FILES: files
    })
    expect(code, stderr).toBe(0)
    expect(parseRunRecord({ stdout })).toMatchObject({ outcome: "published", origin: "live", rows_loaded: 2 })
    expect(await outcomesOf(home)).toEqual({ "bakery.example": "complete complete" })
  })

  it("replaces the list of a recording, whose payloads take precedence over files next to the list, and a rebuild reads the same list", async () => {
    const dairy: Listed = {
      domain: "dairy.example",
      name: "Dairy",
      kind: "shopify",
      location: "https://dairy.example"
    }
    const product = { id: 1, title: "Milk", handle: "milk", variants: [{ id: 11, title: "1 l", price: "1.50" }] }
    const recording = writeFiles(makeTestFolder(), {
      "stores.json": [other],
      "bakery.csv": csv,
      "other.csv": csv,
      ...shopifyPages("dairy.example", [{ products: [product] }])
    })
    const adjacent: Listed = { ...bakery, domain: "beside.example", location: "shelf/beside.csv" }
    const files = writeFiles(makeTestFolder(), { "other.csv": "not this one", "kept.csv": csv })
    const kept: Listed = { ...bakery, domain: "kept.example", location: "kept.csv" }
    const folder = writeFiles(makeTestFolder(), {
      "list.json": [bakery, dairy, other, adjacent, kept],
      "shelf/beside.csv": csv
    })
    const list = path.join(folder, "list.json")
    const home = makeTestFolder()
    const args = ["--replay", recording, "--stores", list]
    const { code, stderr, stdout } = await ingestStores(home, args, { LARDER_STORE_FILES: files })
    expect(code, stderr).toBe(0)
    expect(parseRunRecord({ stdout })).toMatchObject({ outcome: "published", origin: "replay", rows_loaded: 9 })
    const domains = [bakery, dairy, other, adjacent, kept].map(({ domain }) => domain)
    const outcomes = Object.fromEntries(domains.map((domain) => [domain, "complete complete"]))
    expect(await outcomesOf(home)).toEqual(outcomes)
    expect(await outcomesOf(await rebuildFrom(home))).toEqual(outcomes)
  })

  it.each([
    ["commodities", ["commodities"]],
    ["branded-foods", ["branded-foods"]],
    ["commodities and branded-foods", ["all"]],
    ["commodities and branded-foods", []]
  ])("exits with 2 for %s, called as %j, and names the command that accepts it", async (names, command) => {
    const { given } = setUp()
    const home = makeTestFolder()
    const { code, stderr } = await run("larder-ingest", [...command, "--stores", given], { LARDER_HOME: home })
    expect(code).toBe(2)
    expect(stderr).toContain(`--stores does not apply to ${names}: use it with larder-ingest storefronts`)
    expect(readdirSync(home)).toEqual([])
  })

  const controlCharacters = "\u001b[2J\u009b31m\u202e"
  it.each([
    ["a name outside of quotes", `[{ "domain": "bakery.example", "name": ${controlCharacters} }]`],
    ["an unknown field", JSON.stringify([{ ...bakery, [controlCharacters]: 1 }])]
  ])("escapes the control characters of a list with %s, and writes none of them unescaped", async (_, text) => {
    const { given } = setUp()
    writeFileSync(given, text)
    const { code, stderr } = await ingestStores(makeTestFolder(), ["--stores", given])
    expect(code).toBe(2)
    expect(stderr).toMatch(/\\u001b\[2J\\u009b31m/)
    expect(stderr).not.toMatch(/(?!\n)\p{Cc}|\u202e/u)
  })

  it("exits with 2 and names a file that does not exist", async () => {
    const home = makeTestFolder()
    const { code, stderr } = await ingestStores(home, ["--stores", "no-such-list.json"])
    expect(code).toBe(2)
    expect(stderr).toMatch(/does not exist: .*no-such-list\.json/)
    expect(readdirSync(home)).toEqual([])
  })

  it("exits with 2 and names the faults of the list", async () => {
    const { given } = setUp()
    writeFileSync(given, JSON.stringify([{ ...bakery, kind: "etsy" }]))
    const { code, stderr } = await ingestStores(makeTestFolder(), ["--stores", given])
    expect(code).toBe(2)
    expect(stderr).toMatch(/The store list \S+bakery\.json cannot be used\. Store 1, kind: /)
  })
})
