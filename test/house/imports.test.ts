/** The rooms and who may import whom, held up by reading every import of the project. */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"

const mayImport: Readonly<Record<string, ReadonlyArray<string>>> = {
  schemas: ["schemas", "package.json"], // which states the version
  warehouse: ["schemas", "warehouse"],
  pipelines: ["schemas", "warehouse", "pipelines"],
  serve: ["schemas", "warehouse", "serve"],
  test: ["schemas", "warehouse", "pipelines", "serve", "test"]
}

const isTest = (file: string) => file.endsWith(".test.ts")
/** Unit tests lie beside what they test and use the helpers of all tests. */
const isHelperOfTest = (file: string, specifier: string) =>
  isTest(file) && specifier.startsWith("@larder/test/support/")

const filesOf = (room: string) =>
  readdirSync(path.join(repository, room), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes("node_modules"))
    .map((file) => path.join(room, file))

const importsOf = (file: string) => {
  const text = readFileSync(path.join(repository, file), "utf8")
  return [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1] ?? "")
}

/** The room that an import leads to; undefined for packages. */
const roomOf = (file: string, specifier: string) => {
  if (specifier.startsWith("@larder/")) return specifier.split("/")[1]
  if (!specifier.startsWith(".")) return undefined
  return path.normalize(path.join(path.dirname(file), specifier)).split(path.sep)[0]
}

describe("the house", () => {
  it.each(Object.keys(mayImport))("%s imports only the rooms that it may know", (room) => {
    const wrong = filesOf(room).flatMap((file) =>
      importsOf(file)
        .map((specifier) => ({ file, specifier, to: roomOf(file, specifier) }))
        .filter(
          ({ specifier, to }) => to !== undefined && !mayImport[room]?.includes(to) && !isHelperOfTest(file, specifier)
        )
    )
    expect(wrong).toEqual([])
  })

  it("only warehouse/duckdb.ts imports the DuckDB driver", () => {
    const all = Object.keys(mayImport).flatMap(filesOf)
    const importing = all.filter((file) => importsOf(file).some((specifier) => specifier.startsWith("@duckdb/")))
    expect(importing).toEqual([path.join("warehouse", "duckdb.ts")])
  })

  it("schemas imports no module of Node, so it does no input or output", () => {
    const files = filesOf("schemas").filter((file) => !isTest(file))
    const node = files.flatMap((file) => importsOf(file).filter((specifier) => specifier.startsWith("node:")))
    expect(node).toEqual([])
  })
})
