/** The README tells of every flag, every setting and every table; what is added in code and not there fails here. */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { checkResultTable, dataSets, ingestTables, runTable } from "@larder/warehouse/tables.ts"
import { describe, expect, it } from "vitest"
import { repository } from "../repository.ts"

const readme = readFileSync(path.join(repository, "README.md"), "utf8")

const sources = ["warehouse", "pipelines", "serve"]
  .flatMap((room) =>
    readdirSync(path.join(repository, room), { recursive: true, encoding: "utf8" }).map((file) => path.join(room, file))
  )
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("node_modules"))
  .map((file) => readFileSync(path.join(repository, file), "utf8"))

const found = (pattern: RegExp) => [
  ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))
]

describe("the README documents", () => {
  it.each(found(/Flag\.\w+\(\s*"([a-z-]+)"/g))("the flag --%s", (flag) => {
    expect(readme).toContain(`--${flag}`)
  })
  it("each of the first flags that a user meets", () => {
    expect(found(/Flag\.\w+\(\s*"([a-z-]+)"/g)).toEqual(expect.arrayContaining(["replay", "demo", "json"]))
  })
  it.each(found(/"((?:LARDER|MARS)_[A-Z_]+)"/g))("the setting %s", (setting) => {
    expect(readme).toContain(`\`${setting}\``)
  })
  it("each of the first settings that a user meets", () => {
    const settings = found(/"((?:LARDER|MARS)_[A-Z_]+)"/g)
    expect(settings).toEqual(expect.arrayContaining(["LARDER_HOME", "LARDER_SOURCES", "MARS_API_KEY", "LARDER_PORT"]))
  })
  const tables = [
    runTable,
    checkResultTable,
    ...ingestTables,
    ...dataSets.flatMap(({ tables, views }) => [...tables, ...views])
  ]
  it.each(tables.map(({ name, schema }) => `${schema}.${name}`))("the table %s", (table) => {
    expect(readme).toContain(`\`${table}`)
  })
  it.each(Object.keys(dependencies()))("the dependency %s", (name) => {
    expect(readme).toContain(`\`${name}\``)
  })
  it("no command that package.json does not have", () => {
    const scripts = Object.keys(manifestOf(".").scripts)
    const named = [...readme.matchAll(/npm (?:run )?(start|test|bench|format|[a-z]+:[a-z]+)\b/g)].map(
      (match) => match[1]
    )
    expect(named.filter((name) => !scripts.includes(name ?? ""))).toEqual([])
  })
})

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(path.join(repository, folder, "package.json"), "utf8")) as Manifest
}

function dependencies(): Readonly<Record<string, string>> {
  const rooms = [".", "schemas", "warehouse", "pipelines", "serve", "test"].map(manifestOf)
  const all = Object.assign({}, ...rooms.flatMap((room) => [room.dependencies ?? {}, room.devDependencies ?? {}]))
  return Object.fromEntries(
    Object.entries(all as Record<string, string>).filter(([name]) => !name.startsWith("@larder/"))
  )
}
