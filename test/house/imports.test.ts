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

/** Rooms and folders that others see only through their `index.ts`; the longest path first. */
const surfaces = [
  ...["warehouse/cli", "serve/billing/stripe", "schemas", "warehouse", "pipelines"],
  ...["api", "billing", "cli", "console", "docs", "ledger", "mcp", "people", "persistence"].map(
    (name) => `serve/${name}`
  )
]
const isIn = (file: string, folder: string) => file.startsWith(`${folder}/`)
const surfaceOf = (file: string) => surfaces.find((folder) => file === folder || isIn(file, folder))

/** The file of the project that an import leads to, by its path; undefined for packages and what a test starts by address. */
const targetOf = (file: string, specifier: string) => {
  if (specifier.startsWith("@larder/test/") || !/^(\.|@larder\/)/.test(specifier)) return undefined
  return specifier.startsWith("@larder/") ? specifier.replace("@larder/", "") : path.join(path.dirname(file), specifier)
}

/** Published for callers of the API, who import its modules one by one. */
const isClient = (target: string) => isIn(target, "schemas/client")
/** Plain JavaScript that an older Node starts, and what a command loads only when it runs. */
const isLoadedAlone = (target: string) => isIn(target, "warehouse/bin") || target === "serve/mcp/stdio.ts"

const sources = ["schemas", "warehouse", "pipelines", "serve"].flatMap(filesOf).filter((file) => !isTest(file))
const folderOf = (file: string) => path.dirname(file)

describe("the house", () => {
  it.each(Object.keys(mayImport))("%s imports only the rooms that it may import", (room) => {
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

  it("rooms and folders of serve are imported only through their index.ts", () => {
    const deep = Object.keys(mayImport)
      .flatMap(filesOf)
      .flatMap((file) =>
        importsOf(file).flatMap((specifier) => {
          const target = targetOf(file, specifier)
          if (target === undefined || isClient(target) || isLoadedAlone(target)) return []
          const surface = surfaceOf(target)
          const isInside = surface === undefined || isIn(file, surface) || isIn(surface, surfaceOf(file) ?? "-")
          return isInside || target === surface || target === `${surface}/index.ts` ? [] : [{ file, specifier }]
        })
      )
    expect(deep).toEqual([])
  })

  it("no two folders import each other, except a folder and one inside it", () => {
    const arrows = new Set(
      sources.flatMap((file) =>
        importsOf(file).flatMap((specifier) => {
          const target = specifier.startsWith(".") ? targetOf(file, specifier) : undefined
          const [from, to] = [folderOf(file), folderOf(target ?? file)]
          return from === to || isIn(from, to) || isIn(to, from) ? [] : [`${from} ${to}`]
        })
      )
    )
    expect([...arrows].filter((arrow) => arrows.has(arrow.split(" ").reverse().join(" ")))).toEqual([])
  })

  it("no folder has more than eighteen source files, and the root of serve has eight at most", () => {
    const counts = [...Map.groupBy(sources, folderOf)].map(([folder, files]) => ({ folder, files: files.length }))
    expect(counts.filter(({ files, folder }) => files > (folder === "serve" ? 8 : 18))).toEqual([])
  })
})
