/** The unchanged programs of the guides: TypeScript and Python with the API, SQL with the warehouse. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { replacePlaceholders } from "@larder/serve/docs/facts.ts"
import { guides } from "@larder/serve/docs/guides.ts"
import { emptyCommodities } from "@larder/warehouse"
import type { Row } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { useSharedServer } from "../support/api/server.ts"
import { waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { openAsAnalyst } from "../support/warehouse/analyst.ts"
import { startFailingProxy } from "./failing-proxy.ts"

const api = useSharedServer()
let proxy: Awaited<ReturnType<typeof startFailingProxy>>
beforeAll(async () => {
  proxy = await startFailingProxy(api.client())
  await fetch(proxy.url) // the proxy fails once, and the guides' Python does not retry
})
afterAll(() => proxy?.close())

/** The code fences of one language, in the order of the guides. */
const listPrograms = (language: string): ReadonlyArray<string> =>
  guides().flatMap(({ markdown }) =>
    [
      ...replacePlaceholders(markdown, { api: proxy.url, commodities: emptyCommodities }).matchAll(
        /^```(\w+)\n([\s\S]*?)^```$/gm
      )
    ].flatMap(([, kind, text = ""]) => (kind === language ? [text] : []))
  )

const run = (program: string, args: ReadonlyArray<string>, cwd: string) => {
  const environment = { ...process.env, LARDER_URL: proxy.url, LARDER_API_KEY: api.key().key }
  return waitForExit(spawn(program, args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] }))
}

describe("the guides' TypeScript", () => {
  /** A separate project with links to the packages. All parts of the guides form one program. */
  let project = ""
  const file = "guide.ts"
  beforeAll(() => {
    project = mkdtempSync(path.join(tmpdir(), "larder-guide-"))
    symlinkSync(path.join(repository, "node_modules"), path.join(project, "node_modules"))
    writeFileSync(path.join(project, "package.json"), '{ "type": "module" }')
    const settings = { extends: path.join(repository, "tsconfig.json"), include: [file] }
    writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify(settings))
    writeFileSync(path.join(project, file), listPrograms("ts").join("\n"))
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it("compiles without errors", async () => {
    const compiler = path.join(repository, "node_modules/typescript/bin/tsc")
    const { code, stdout } = await run(process.execPath, [compiler, "--noEmit", "--project", project], project)
    expect([code, stdout]).toEqual([0, ""])
  })

  it("prints prices with their cost, and foods with their sodium", async () => {
    const { code, stderr, stdout } = await run(process.execPath, [file], project)
    expect([code, stderr]).toEqual([0, ""])
    const [prices = "", foods = ""] = stdout.split("] 10 4990\n")
    expect(prices).toContain("{ date: '2026-09-26', value: 1.3871 }\n")
    const lines = foods.trim().split("\n")
    expect(lines.length).toBeGreaterThan(20)
    for (const line of lines) expect(line).toMatch(/ (\d+(\.\d+)?|undefined)$/) // of sodium
  })
})

describe("the guides' Python", () => {
  it("prints the rows of all pages", async () => {
    const programs = listPrograms("py")
    expect(programs).toHaveLength(1)
    const program = programs.join("\n").replace("limit=200", "limit=20") // the samples have one page of 200
    const { code, stderr, stdout } = await run("python3", ["-c", program], repository)
    expect([code, stderr]).toEqual([0, ""])
    const lines = stdout.trim().split("\n")
    const { json } = await api.get("/v1/branded-foods?category=candy&limit=200")
    const { data } = json as { readonly data: ReadonlyArray<{ readonly upc: string; readonly description: string }> }
    expect(lines.length).toBeGreaterThan(20)
    expect(lines).toEqual(data.map(({ description, upc }) => `${upc} ${description}`))
  })
})

/** The rows of a response; for series and metrics, their values. */
const parseRows = (text: string): ReadonlyArray<unknown> => {
  const { data } = JSON.parse(text.slice(text.indexOf("{")))
  if (!Array.isArray(data)) return [data]
  return data.flatMap((row) => row.points ?? [row])
}

describe("the guides' curl", () => {
  it("prints responses with rows, except for the unknown series", async () => {
    const variables = new Map<string, string>()
    const callsWithoutRows: Array<string> = []
    const calls = listPrograms("sh").flatMap((program) =>
      program
        .replaceAll("\\\n", "")
        .split("\n")
        .filter((line) => line.startsWith("curl "))
    )
    expect(calls.length).toBeGreaterThan(12)
    for (const call of calls) {
      const line = call.replace(/\$([A-Z]+_(?:ID|CURSOR))/g, (_, name: string) => variables.get(name) ?? "")
      const { code, stdout } = await run("sh", ["-c", `${line} --silent --show-error`], repository)
      expect([line, code]).toEqual([line, 0])
      const [, cursor] = /"next_cursor":"([^"]+)"/.exec(stdout) ?? []
      if (cursor !== undefined) variables.set("NEXT_CURSOR", cursor)
      const [id, kind] = /platform_(store|product)_\w+/.exec(stdout) ?? []
      if (id !== undefined) variables.set(`${kind?.toUpperCase()}_ID`, id)
      if (stdout.includes('"error"') || parseRows(stdout).length === 0)
        callsWithoutRows.push(call.replace(/^.*(?=\/v1)/, ""))
    }
    expect(callsWithoutRows).toEqual(['/v1/commodities/prices?series=gold"'])
  })
})

describe("the guides' SQL", () => {
  it("returns five rows, beginning with the price of 2026-09-26", async () => {
    const results = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const db = yield* openAsAnalyst(path.join(inject("sampleHome"), "warehouse/larder.duckdb"))
          const results: Array<ReadonlyArray<Row>> = []
          for (const sql of listPrograms("sql")) results.push(yield* db.rows(sql.trim().replace(/;$/, "")))
          return results
        })
      )
    )
    expect(results).toHaveLength(1)
    expect(results[0]).toHaveLength(5)
    expect(results[0]?.[0]).toEqual({ observed_on: "2026-09-26", value: "1.495800", revision_status: "provisional" })
  })
})
