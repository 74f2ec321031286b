/**
 * Runs each recipe of docs/analysts.md with its own tool, as the page says. R is the exception: no registry that the tests use
 * has it with its packages, so only its query is compared with that of another recipe.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, inject, it } from "vitest"
import { makeTestFolder } from "../../end-to-end/ingesting.ts"
import { type Fence, findFences, readDocument } from "../../house/documents.ts"
import { repository } from "../../support/repository.ts"
import { installFromPython, runCommand } from "../../support/tools.ts"

const fileIn = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const page = readDocument("docs/analysts.md")
const recipes = new Map(
  page.text
    .split("\n## ")
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section] as const)
)
const fencesOf = (title: string): ReadonlyArray<Fence> => findFences({ ...page, text: recipes.get(title) ?? "" })
/** The code of a recipe with one block, and what it prints. */
const codeOf = (title: string) => {
  const [code, output] = fencesOf(title).map(({ text }) => text)
  return { code: code ?? expect.fail(`no recipe is called ${title}`), output }
}
const joinLines = (sql: string | undefined) => sql?.replaceAll(/\s+/g, " ").trim()

let programs = ""
beforeAll(async () => {
  programs = await installFromPython("analysts", fileIn("recipes.txt"))
}, 300_000)

/** A folder of an analyst, in which the warehouse has the path that the page names. */
const makeFolder = () => {
  const folder = makeTestFolder()
  mkdirSync(path.join(folder, "data"))
  symlinkSync(path.join(inject("sampleHome"), "warehouse"), path.join(folder, "data/warehouse"))
  return folder
}
const runIn = (folder: string, program: string, ...args: ReadonlyArray<string>) =>
  runCommand([path.join(programs, program), ...args], folder, { DBT_SEND_ANONYMOUS_USAGE_STATS: "false" })

describe.concurrent("a recipe for analysts, run in a folder with the warehouse, prints what the page shows", () => {
  it("with DuckDB's shell", async () => {
    const [folder, { code, output }] = [makeFolder(), codeOf("DuckDB's shell")]
    writeFileSync(path.join(folder, "typed.sql"), code)
    expect(await runIn(folder, "duckdb", "my.duckdb", "-f", "typed.sql")).toBe(output)
  })

  it("with pandas", async () => {
    const [folder, { code, output }] = [makeFolder(), codeOf("Python with pandas")]
    expect(await runIn(folder, "python", "-c", code)).toBe(output)
  })

  it("with polars", async () => {
    const [folder, { code, output }] = [makeFolder(), codeOf("Python with polars")]
    expect(await runIn(folder, "python", "-c", code)).toBe(output)
  })

  it("with Node", async () => {
    const [folder, { code, output }] = [makeFolder(), codeOf("Node")]
    symlinkSync(path.join(repository, "node_modules"), path.join(folder, "node_modules"))
    const args = ["--input-type=module", "--eval", code]
    expect(await runCommand([process.execPath, ...args], folder, {})).toBe(output)
  })

  it("with dbt, whose files are named before their blocks", async () => {
    const [folder, section] = [makeFolder(), recipes.get("dbt") ?? ""]
    mkdirSync(path.join(folder, "models"))
    for (const { end, text } of fencesOf("dbt")) {
      const before = section.slice(0, end - text.length)
      const [, name = ""] = [...before.matchAll(/`((?:models\/)?\w+\.(?:yml|sql))`/g)].at(-1) ?? []
      writeFileSync(path.join(folder, name), text)
    }
    await runIn(folder, "dbt", "run")
    const { code, output } = codeOf("Python with pandas")
    const readTable = `${code.split("query")[0]}print(db.sql("from revised order by observed_on").df())`
    expect(await runIn(folder, "python", "-c", readTable)).toBe(output)
  })
})

it("the recipe for R, which is not run, has the query of the recipe for polars", () => {
  const [, inR] = /query <- "([^"]*)"/.exec(codeOf("R").code) ?? []
  const [, inPython] = /query = """([^"]*)"""/.exec(codeOf("Python with polars").code) ?? []
  expect(inR).toContain("larder.commodity.observation_as_of")
  expect(joinLines(inR)).toBe(joinLines(inPython))
})

it("DuckDB 2.0 reads every row of every view in larder.duckdb, from another database", async () => {
  const file = path.join(inject("sampleHome"), "warehouse/larder.duckdb")
  const { read, version } = JSON.parse(await runIn(repository, "python", fileIn("read-all.py"), file))
  const expected = await runCommand([process.execPath, fileIn("read-all.ts"), "@duckdb/node-api", file], repository, {})
  expect(version).toMatch(/^2\.0\./)
  expect({ [file]: read }).toEqual(JSON.parse(expected).read)
  expect(Object.keys(read).length).toBeGreaterThan(40)
})
