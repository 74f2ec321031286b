/** `ledger export`: the entries of an account, in formats for other programs. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { admin, adminLines, type Environment, run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const notes = ['wire "4711", unpaid', "=1+1", "ünïcödé 🧀", "null", "paid; @SUM(A1)"]
/** How the notes appear in CSV, so that no spreadsheet runs them. */
const notesInCsv = new Map([
  ["=1+1", "'=1+1"],
  ["paid; @SUM(A1)", "paid; '@SUM(A1)"]
])
let home = ""

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), "larder-export-test-"))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const writeTo = async (file: string, args: ReadonlyArray<string>, environment: Environment) => {
  const out = openSync(file, "w")
  const program = path.join(repository, "serve/bin/larder-serve.mjs")
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", out, "inherit"]
  })
  const [code] = await once(child, "exit")
  closeSync(out)
  expect(code).toBe(0)
}

const readExportedRows = (source: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(DuckDb.memory, (db) =>
        db.rows(`select * replace (sequence::double as sequence, position::double as position, credits::double as credits,
            balance::double as balance, budget_credits::double as budget_credits,
            strftime(occurred_at, '%Y-%m-%dT%H:%M:%S.%gZ') as occurred_at)
          from ${source} order by position`)
      )
    )
  )

/** Tables and columns of the file that have no comment. */
const listUncommented = (file: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(DuckDb.readOnly(file), (db) =>
        db.rows(`select table_name as name from duckdb_tables() where coalesce(comment, '') = ''
          union all select table_name || '.' || column_name from duckdb_columns()
          where not internal and coalesce(comment, '') = ''`)
      )
    )
  )

describe.each(["embedded", "postgres"])("ledger export of the %s ledger", (kind) => {
  const makeEnvironment = async (): Promise<Environment> => {
    const folder = path.join(home, kind)
    mkdirSync(folder)
    const shared = kind === "postgres" ? { LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) } : {}
    return { LARDER_HOME: folder, ...shared }
  }

  it("writes the same entries as JSON lines, Parquet, CSV without formulas, and DuckDB tables with comments", async () => {
    const environment = await makeEnvironment()
    const folder = environment.LARDER_HOME ?? ""
    const { id } = await admin<{ readonly id: string }>(folder, ["accounts", "create", "--name", "A"], environment)
    for (const note of notes) {
      await admin(folder, ["accounts", "credit", "--account", id, "--usd", "0.001", "--note", note], environment)
    }
    const exported = ["ledger", "export", "--account", id]
    const lines = await adminLines<{ readonly note: string; readonly balance: number }>(folder, exported, environment)
    expect(lines.map(({ balance, note }) => [balance, note])).toEqual([
      [5000, "starting balance"],
      ...notes.map((note, index) => [5001 + index, note])
    ])

    const parquet = path.join(folder, "entries.parquet")
    await writeTo(parquet, [...exported, "--parquet"], environment)
    expect(await readExportedRows(`read_parquet(${literal(parquet)})`)).toEqual(lines)

    const duckdb = path.join(folder, "entries.duckdb")
    await run("larder-serve", ["ledger", "export", "--duckdb", duckdb], environment)
    expect(await listUncommented(duckdb)).toEqual([])

    const csv = path.join(folder, "entries.csv")
    await writeTo(csv, [...exported, "--csv"], environment)
    expect(await readExportedRows(`read_csv(${literal(csv)}, header = true, all_varchar = false)`)).toEqual(
      lines.map((line) => ({ ...line, note: notesInCsv.get(line.note) ?? line.note }))
    )
    const [head, first] = readFileSync(csv, "utf8").split("\n")
    expect(head).toBe(Object.keys(lines[0] ?? {}).join(","))
    expect(first).toMatch(
      /^[12],acct_\w+,1,grant,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,,,5000,5000,,,starting balance,[0-9a-f]{64}$/
    )
  })
})

describe("ledger export", () => {
  it("exits with 2 when two formats are given", async () => {
    const { code, stderr } = await run("larder-serve", ["ledger", "export", "--account", "acct_a", "--csv", "--json"], {
      LARDER_HOME: home
    })
    expect(code).toBe(2)
    expect(stderr).toContain("Give at most one of --json, --csv, --parquet")
  })
})
