/** Checks every import of the project: which room may import which, and what it may import. */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"

const mayImport: Readonly<Record<string, ReadonlyArray<string>>> = {
  schemas: ["schemas", "package.json"], // package.json has the version
  warehouse: ["schemas", "warehouse"],
  pipelines: ["schemas", "warehouse", "pipelines"],
  serve: ["schemas", "warehouse", "serve"],
  test: ["schemas", "warehouse", "pipelines", "serve", "test"]
}

const isTest = (file: string) => file.endsWith(".test.ts")
/** Unit tests are next to what they test, and use the helpers of all tests. */
const isHelperOfTest = (file: string, specifier: string) =>
  isTest(file) && specifier.startsWith("@larder/test/support/")

const listSources = (room: string) =>
  readdirSync(path.join(repository, room), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes("node_modules"))
    .map((file) => path.join(room, file))

const findImports = (file: string) => {
  const text = readFileSync(path.join(repository, file), "utf8")
  return [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1] ?? "")
}

/** Without `import type`, which loads nothing. */
const findLoaded = (file: string) => {
  const text = readFileSync(path.join(repository, file), "utf8")
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[^"';]* from )?"([^"]+)"/gm)].map((match) => match[1] ?? "")
}

/** The names in the braces of imports or exports, without `type`. */
const findNames = (file: string, keyword: "import" | "export") => {
  const text = readFileSync(path.join(repository, file), "utf8")
  const statements = text.matchAll(new RegExp(`^${keyword} (?:type )?\\{([^}]*)\\} from "([^"]+)"`, "gm"))
  return [...statements].map(([, names = "", specifier = ""]) => ({
    names: names.split(",").flatMap((name) => name.replace("type ", "").trim() || []),
    specifier
  }))
}

/** Every name that others can import from the file, also through its `export *`. */
const listExports = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(path.join(repository, file), "utf8")
  const declared = text.matchAll(/^export (?:async )?(?:const|function|class|type|interface) (\w+)/gm)
  const all = text.matchAll(/^export \* from "([^"]+)"/gm)
  return [
    ...[...declared].map(([, name = ""]) => name),
    ...findNames(file, "export").flatMap(({ names }) => names),
    ...[...all].flatMap(([, specifier = ""]) => listExports(path.join(path.dirname(file), specifier)))
  ]
}

/** The room of the imported file; undefined for packages. */
const findRoom = (file: string, specifier: string) => {
  if (specifier.startsWith("@larder/")) return specifier.split("/")[1]
  if (!specifier.startsWith(".")) return undefined
  return path.normalize(path.join(path.dirname(file), specifier)).split(path.sep)[0]
}

/** Rooms and folders that other sources import only through their `index.ts`, longest path first. */
const surfaces = [
  ...["warehouse/cli", "serve/billing/stripe", "schemas", "warehouse"],
  ...["api", "billing", "cli", "console", "docs", "ledger", "mail", "mcp", "notices", "people", "persistence"].map(
    (name) => `serve/${name}`
  )
]
const isIn = (file: string, folder: string) => file.startsWith(`${folder}/`)
const findSurface = (file: string) => surfaces.find((folder) => file === folder || isIn(file, folder))

/** The path of the imported file; undefined for packages and test helpers. */
const findTarget = (file: string, specifier: string) => {
  if (specifier.startsWith("@larder/test/") || !/^(\.|@larder\/)/.test(specifier)) return undefined
  return specifier.startsWith("@larder/") ? specifier.replace("@larder/", "") : path.join(path.dirname(file), specifier)
}

/** Published for callers of the API, who import its modules one by one. */
const isClient = (target: string) => isIn(target, "schemas/client")
/** JavaScript for older versions of Node. */
const isImportedDirectly = (target: string) => isIn(target, "warehouse/bin")

const sources = ["schemas", "warehouse", "pipelines", "serve"].flatMap(listSources).filter((file) => !isTest(file))
const getFolder = (file: string) => path.dirname(file)

const known = new Set(sources)
const resolve = (target: string) => (known.has(target) ? target : `${target}/index.ts`)

/** Every import of a package that runs when this file is loaded. The outer loop also visits the files that it adds. */
const findPackages = (first: string) => {
  const files = new Set([first])
  const packages: Array<string> = []
  for (const file of files) {
    for (const specifier of findLoaded(file)) {
      const to = resolve(findTarget(file, specifier) ?? "")
      if (known.has(to)) files.add(to)
      else if (!/^(node:|\.)/.test(specifier)) packages.push(`${file} loads ${specifier}`)
    }
  }
  return packages
}

describe("imports and folders", () => {
  it.each(Object.keys(mayImport))("%s imports only the rooms that it may import", (room) => {
    const wrong = listSources(room).flatMap((file) =>
      findImports(file)
        .map((specifier) => ({ file, specifier, to: findRoom(file, specifier) }))
        .filter(
          ({ specifier, to }) => to !== undefined && !mayImport[room]?.includes(to) && !isHelperOfTest(file, specifier)
        )
    )
    expect(wrong).toEqual([])
  })

  it("only warehouse/duckdb.ts imports the DuckDB driver", () => {
    const importing = Object.keys(mayImport)
      .flatMap(listSources)
      .filter((file) => findImports(file).some((specifier) => specifier.startsWith("@duckdb/")))
    expect(importing).toEqual([path.join("warehouse", "duckdb.ts")])
  })

  it("schemas imports no module of Node, so it does no input or output", () => {
    const files = listSources("schemas").filter((file) => !isTest(file))
    const node = files.flatMap((file) => findImports(file).filter((specifier) => specifier.startsWith("node:")))
    expect(node).toEqual([])
  })

  it("threads of the ledger load no packages, which would take a quarter of a second and 50 MB in each", () => {
    const store = "serve/ledger/embedded/embedded-store.ts"
    const lists = readFileSync(path.join(repository, store), "utf8").matchAll(/^const (?:inThread|\w+Modules) = .+/gm)
    const named = [...lists].flatMap(([list]) => [...list.matchAll(/"([^"]+)"/g)])
    const modules = named.map(([, module = ""]) => path.join(path.dirname(store), module))
    expect(modules).toContain("serve/ledger/embedded/usage.ts")
    expect(["serve/persistence/thread-main.ts", ...modules].flatMap(findPackages)).toEqual([])
  })

  it("larder-serve loads DuckDB only for commands that need it: --help is quick", () => {
    const packages = findPackages("serve/cli/program.ts")
    expect(packages).toContain("serve/cli/program.ts loads effect/cli")
    expect(packages.filter((line) => line.includes("@duckdb/"))).toEqual([])
  })

  it("sources import other rooms and folders of serve only through their index.ts; tests import any file", () => {
    const deepImports = sources.flatMap((file) =>
      findImports(file).flatMap((specifier) => {
        const target = findTarget(file, specifier)
        if (target === undefined || isClient(target) || isImportedDirectly(target)) return []
        const surface = findSurface(target)
        const isInside = surface === undefined || isIn(file, surface) || isIn(surface, findSurface(file) ?? "-")
        return isInside || target === surface || target === `${surface}/index.ts` ? [] : [{ file, specifier }]
      })
    )
    expect(deepImports).toEqual([])
  })

  const exportedWithTheirFile = ["Declared", "RecordName"] // types that only schemas uses, in files of `export *`
  const loadedOnDemand = "serve/billing/stripe" // by `import()`, which names nothing
  it.each(surfaces.filter((folder) => folder !== loadedOnDemand))(
    "the index.ts of %s exports only what sources outside import",
    (folder) => {
      const surface = `${folder}/index.ts`
      const imported = new Set(
        sources
          .filter((file) => !isIn(file, folder))
          .flatMap((file) =>
            findNames(file, "import").flatMap(({ names, specifier }) => {
              const target = findTarget(file, specifier)
              return target === surface || target === folder ? names.map((name) => name.replace(/ as .*/, "")) : []
            })
          )
      )
      const exported = listExports(surface).filter((name) => !exportedWithTheirFile.includes(name))
      expect(exported).not.toEqual([])
      expect(exported.filter((name) => !imported.has(name))).toEqual([])
    }
  )

  it("no two folders import each other, except a folder and one inside it", () => {
    const arrows = new Set(
      sources.flatMap((file) =>
        findImports(file).flatMap((specifier) => {
          const target = specifier.startsWith(".") ? findTarget(file, specifier) : undefined
          const [from, to] = [getFolder(file), getFolder(target ?? file)]
          return from === to || isIn(from, to) || isIn(to, from) ? [] : [`${from} ${to}`]
        })
      )
    )
    expect([...arrows].filter((arrow) => arrows.has(arrow.split(" ").reverse().join(" ")))).toEqual([])
  })

  it("no file imports itself through others, not even for types", () => {
    const arrows = sources.flatMap((from) =>
      findImports(from).flatMap((specifier) => {
        const to = resolve(findTarget(from, specifier) ?? "")
        return known.has(to) ? [{ from, to }] : []
      })
    )
    /** Without the files that no other imports, or that import no other, until there are none. */
    const removeEnds = (left: typeof arrows): typeof arrows => {
      const [importing, imported] = [new Set(left.map(({ from }) => from)), new Set(left.map(({ to }) => to))]
      const kept = left.filter(({ from, to }) => imported.has(from) && importing.has(to))
      return kept.length === left.length ? kept : removeEnds(kept)
    }
    expect(removeEnds(arrows)).toEqual([])
  })

  it("no folder has more than eighteen source files, and the root of serve has at most eight", () => {
    const counts = [...Map.groupBy(sources, getFolder)].map(([folder, files]) => ({ folder, files: files.length }))
    expect(counts.filter(({ files, folder }) => files > (folder === "serve" ? 8 : 18))).toEqual([])
  })
})
