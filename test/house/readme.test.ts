/** The README tells of every flag, every setting and every table; what is added in code and not there fails here. */
import { readdirSync, readFileSync, realpathSync } from "node:fs"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { checkResultTable, dataSets, ingestTables, runTable } from "@larder/warehouse/tables.ts"
import { Effect } from "effect"
import { describe, expect, inject, it } from "vitest"
import { type Program, run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const readme = readFileSync(path.join(repository, "README.md"), "utf8")

const sources = ["warehouse", "pipelines", "serve"]
  .flatMap((room) =>
    readdirSync(path.join(repository, room), { recursive: true, encoding: "utf8" }).map((file) => path.join(room, file))
  )
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("node_modules"))
  .map((file) => readFileSync(path.join(repository, file), "utf8"))

/** Flags that the command-line library gives to every program. */
const ofEveryProgram = ["help", "version", "wizard", "completions", "log-level"]

const commands: ReadonlyArray<readonly [Program, ReadonlyArray<string>]> = [
  ["larder-ingest", []],
  ["larder-ingest", ["all"]],
  ["larder-ingest", ["commodities"]],
  ["larder-ingest", ["branded-foods"]],
  ["larder-ingest", ["storefronts"]],
  ["larder-ingest", ["generations"]],
  ["larder-ingest", ["rollback"]],
  ["larder-ingest", ["rebuild"]],
  ["larder-serve", ["start"]],
  ["larder-serve", ["accounts", "create"]],
  ["larder-serve", ["accounts", "list"]],
  ["larder-serve", ["accounts", "credit"]],
  ["larder-serve", ["keys", "create"]],
  ["larder-serve", ["keys", "list"]],
  ["larder-serve", ["keys", "edit"]],
  ["larder-serve", ["keys", "revoke"]],
  ["larder-serve", ["ledger", "export"]],
  ["larder-serve", ["ledger", "usage"]],
  ["larder-serve", ["ledger", "verify"]],
  ["larder-serve", ["ledger", "backup"]],
  ["larder-serve", ["ledger", "migrate"]],
  ["larder-serve", ["people", "invite"]],
  ["larder-serve", ["people", "withdraw"]],
  ["larder-serve", ["people", "list"]],
  ["larder-serve", ["people", "reset"]],
  ["larder-serve", ["people", "remove"]],
  ["larder-serve", ["mcp"]]
]

const found = (pattern: RegExp) => [
  ...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))
]

describe("the README documents", () => {
  it.each(commands)("the command and every flag of: %s %j", async (program, command) => {
    const { stdout } = await run(program, [...command, "--help"], {})
    const flags = [...stdout.matchAll(/^\s+(?:-\w, )?--([a-z-]+)/gm)].map((match) => match[1] ?? "")
    const own = flags.filter((flag) => !ofEveryProgram.includes(flag))
    expect(flags).toContain("help")
    expect(own.filter((flag) => !readme.includes(`--${flag}`))).toEqual([])
    expect(readme).toContain([program, ...command].join(" "))
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
    expect(readme).toMatch(new RegExp(`\`${table}[\`(]`))
  })
  it.each(Object.keys(dependencies()))("the dependency %s", (name) => {
    expect(readme).toContain(`\`${name}\``)
  })
  it("nothing that is still to be filled in", () => {
    expect(readme).not.toContain("@@")
  })
  it.each(queries())("a query and its real answer: %#", async ({ answer, sql }) => {
    expect(await ask(sql)).toEqual(answer)
  })
  it("no command that package.json does not have", () => {
    const scripts = Object.keys(manifestOf(".").scripts)
    const named = [...readme.matchAll(/npm (?:run )?(start|test|bench|format|[a-z]+:[a-z]+)\b/g)].map(
      (match) => match[1]
    )
    expect(named.filter((name) => !scripts.includes(name ?? ""))).toEqual([])
  })
})

/** Each SQL block and the block behind it. */
function queries() {
  return [...readme.matchAll(/```sql\n([^`]+)```\n\n```\n([^`]+)```/g)].map(([, sql = "", table = ""]) => ({
    sql: sql.replace(/;\s*$/, ""),
    answer: table
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/))
  }))
}

/** Column names and rows, as texts. */
const ask = (sql: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const db = yield* DuckDb.readOnly(realpathSync(path.join(inject("sampleHome"), "warehouse", "larder.duckdb")))
        const rows = yield* db.rows(sql)
        return [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))]
      })
    )
  )

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
