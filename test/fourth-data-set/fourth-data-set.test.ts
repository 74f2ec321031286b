/**
 * Adds a fourth data set, fictional exchange rates, to a copy of the tree. It is compiled, ingested, served, charged and
 * documented, and then removed. Takes about 20 s.
 *
 * After a change of a file in `registration.patch`, `node test/fourth-data-set/record.ts` writes the patch again.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb } from "@larder/warehouse"
import { Effect, type Scope } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { cleanEnvironment, waitForExit } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import {
  addDataSet,
  copyTree,
  listDocumentedFiles,
  listDocumentedFolders,
  listOwnFiles,
  listPatchedFiles,
  removeDataSet
} from "./added.ts"

const copy = mkdtempSync(path.join(tmpdir(), "larder-fourth-"))
const recording = mkdtempSync(path.join(tmpdir(), "larder-rates-"))
let home = ""

const start = (program: string, args: ReadonlyArray<string>) =>
  spawn(process.execPath, [path.join(copy, program), ...args], {
    env: cleanEnvironment({ LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }),
    stdio: ["ignore", "pipe", "pipe"]
  })
const ingest = (...args: ReadonlyArray<string>) => waitForExit(start("pipelines/bin/larder-ingest.mjs", args))
const admin = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await waitForExit(start("serve/bin/larder-serve.mjs", [...args, "--json"]))
  expect(code, stderr).toBe(0)
  return stdout
}

/** Runs a test with a server of the copy. */
const runWithServer = async (test: (api: string, logs: () => string) => Promise<void>) => {
  const server = start("serve/bin/larder-serve.mjs", ["start", "--json"])
  const closed = once(server, "close")
  let logs = ""
  server.stderr.setEncoding("utf8").on("data", (piece) => {
    logs += piece
  })
  const first = once(createInterface({ input: server.stdout }), "line")
  const line = await Promise.race([
    first.then(([line]) => String(line)),
    closed.then(() => Promise.reject(new Error(`the server ended before it listened:\n${logs}`)))
  ])
  try {
    await test(JSON.parse(line).api, () => logs)
  } finally {
    server.kill()
    await closed
  }
}

interface Body {
  readonly data: unknown
  readonly next_cursor: string
  readonly error: { readonly message: string }
}

/** Status, headers about data and credits, and body. */
const request = async (api: string, target: string, key: string) => {
  const response = await fetch(`${api}${target}`, { headers: { authorization: `Bearer ${key}` } })
  const header = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    about: ["x-data-version", "x-data-origin", "x-credits-charged", "x-credits-remaining"].map(header),
    body: (await response.json()) as Body
  }
}

const queryFile = <A, E>(file: string, read: (db: DuckDb["Service"]) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(
    Effect.flatMap(DuckDb.readOnly(path.join(home, "warehouse", file)), read).pipe(
      Effect.scoped,
      Effect.provide(NodeServices.layer)
    )
  )

let account = ""
/** A key for the new data set, and one for another. */
const keys = { rates: "", commodities: "" }

/** Newest first: a missing rate, a line that cannot be read, and a day without rates. */
const daily = `Date,USD,JPY
2026-09-30,1.0394,N/A
2026-09-29,about one,160.27
2026-09-28,1.0410,159.88
2026-09-25,N/A,N/A
`

beforeAll(async () => {
  copyTree(copy)
  addDataSet(copy)
  home = copyHome(inject("sampleHome"))
  mkdirSync(path.join(recording, "rates.example"))
  writeFileSync(path.join(recording, "rates.example", "daily.csv"), daily)
})
afterAll(() => {
  for (const folder of [copy, recording, home]) if (folder !== "") rmSync(folder, { recursive: true, force: true })
})

describe("a fourth data set", () => {
  it("changes at most eight existing files, in the order in which docs/contributing.md names them", () => {
    expect(listPatchedFiles().length).toBeLessThanOrEqual(8)
    expect(listPatchedFiles()).toEqual(listDocumentedFiles())
    const isUndocumented = (file: string) => !listDocumentedFolders().some((folder) => file.startsWith(`${folder}/`))
    expect(listOwnFiles().filter(isUndocumented)).toEqual([])
  })

  it("compiles, with the files that it changes and everything that these import", async () => {
    const files = [...listOwnFiles(), ...listPatchedFiles()].filter((file) => file.endsWith(".ts"))
    const config = { extends: "./tsconfig.json", include: [], files }
    writeFileSync(path.join(copy, "tsconfig.added.json"), JSON.stringify(config))
    const tsc = [path.join(copy, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", "tsconfig.added.json"]
    const { code, stdout } = await waitForExit(spawn(process.execPath, tsc, { cwd: copy }))
    expect([code, stdout]).toEqual([0, ""]) // the whole tree takes six times as long
  })

  it("is ingested from a recording, with every row counted", async () => {
    const { code, stderr, stdout } = await ingest("exchange-rates", "--replay", recording, "--json")
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      pipeline: "exchange-rates",
      outcome: "published",
      generation: "larder-000004",
      rows_read: 4,
      rows_loaded: 2,
      rows_unchanged: 1,
      rows_rejected: 1
    })
  })

  it("has comments on its tables, and is in the catalogue", async () => {
    const comments = await queryFile("exchange-rates.duckdb", (db) =>
      db.rows(`select table_name as name, comment from duckdb_tables()
        union all select column_name, comment from duckdb_columns() where table_name = 'rate' and column_name = 'rate'`)
    )
    expect(comments).toEqual([
      {
        name: "rate",
        comment: "The current rate of each currency and day. A corrected rate replaces the earlier one."
      },
      { name: "rate", comment: "Units of the currency for one euro, to six decimal places." }
    ])
    const views = await queryFile("larder.duckdb", (db) =>
      db.rows(`select view_name from duckdb_views() where schema_name = 'exchange_rate'`)
    )
    expect(views).toEqual([{ view_name: "rate" }])
  })

  it("is shown by the console without its own code", async () => {
    const { readContents } = await import(pathToFileURL(path.join(copy, "serve/console/data/data-sets.ts")).href)
    const facts = await queryFile("exchange-rates.duckdb", (db) =>
      readContents({ dataSet: (name: string) => (name === "exchange-rates" ? db : undefined), ingest: db })
    )
    expect(facts).toContainEqual({
      title: "Exchange rates",
      pipeline: "exchange-rates",
      isLoaded: true,
      contents: [{ count: 3, what: "rows in rate" }],
      newest: [{ what: "day", date: "2026-09-30" }]
    })
  })

  it("is served and charged to keys with its scope, and documented", async () => {
    account = JSON.parse(await admin("accounts", "create", "--name", "Bureau de change")).id
    const create = async (scopes: string) => {
      const settings = ["--name", scopes, "--scopes", scopes, "--budget-usd", "100"]
      return JSON.parse(await admin("keys", "create", "--account", account, ...settings)).key
    }
    keys.rates = await create("get-exchange-rates")
    keys.commodities = await create("search-commodities")
    await runWithServer(async (api) => {
      const first = await request(api, "/v1/exchange-rates?limit=2", keys.rates)
      expect(first).toMatchObject({
        status: 200,
        about: ["larder-000004", "live", "10", "4990"],
        body: {
          data: [
            { currency: "JPY", day: "2026-09-28", rate: 159.88 },
            { currency: "USD", day: "2026-09-28", rate: 1.041 }
          ]
        }
      })
      const cursor = encodeURIComponent(first.body.next_cursor)
      const { body } = await request(api, `/v1/exchange-rates?limit=2&cursor=${cursor}`, keys.rates)
      expect(body).toEqual({ data: [{ currency: "USD", day: "2026-09-30", rate: 1.0394 }], next_cursor: null })
      const emptyPage = await request(api, "/v1/exchange-rates?currency=JPY&from=2026-09-29", keys.rates)
      expect([emptyPage.about[3], emptyPage.body]).toEqual(["4970", { data: [], next_cursor: null }])
      const refused = await request(api, "/v1/exchange-rates", keys.commodities)
      expect([refused.status, refused.about[2], refused.body.error.message]).toEqual([
        403,
        "0",
        "This key is not scoped to get-exchange-rates"
      ])
      const document = await (await fetch(`${api}/openapi.json`)).json()
      expect(document).toMatchObject({
        tags: expect.arrayContaining([expect.objectContaining({ name: "Exchange rates" })]),
        paths: { "/v1/exchange-rates": { get: { tags: ["Exchange rates"], "x-credits": 10 } } }
      })
      expect(await (await fetch(`${api}/docs/exchange-rates`)).text()).toContain("GET /v1/exchange-rates")
      const entries = (await admin("ledger", "export", "--account", account)).trim().split("\n")
      const charges = entries.map((line) => JSON.parse(line)).filter(({ type }) => type === "charge")
      expect(charges.map(({ credits, endpoint }) => [endpoint, credits])).toEqual(
        Array(3).fill(["/v1/exchange-rates", -10])
      )
    })
  })

  it("is not served after its removal, its scope allows nothing, and everything else is served", async () => {
    removeDataSet(copy)
    await runWithServer(async (api, logs) => {
      expect((await request(api, "/v1/exchange-rates", keys.rates)).body.error.message).toBe("No such endpoint")
      expect((await request(api, "/v1/commodities", keys.rates)).status).toBe(403)
      const { about, status } = await request(api, "/v1/commodities", keys.commodities)
      expect([status, ...about]).toEqual([200, "larder-000001", "sample", "10", "4960"])
      expect(logs()).toContain("exchange-rates is not served: this data set is unknown to this version of Larder")
      expect(logs()).toContain("has scopes that this version of Larder does not include; they allow nothing")
      expect(JSON.parse(await admin("keys", "list", "--account", account))).toMatchObject([
        { scopes: [] },
        { scopes: ["search-commodities"] }
      ])
    })
    expect((await ingest("exchange-rates")).code).toBe(2)
    expect((await ingest("rollback", "--only", "exchange-rates")).code).toBe(2)
    const { stdout } = await ingest("generations")
    expect(stdout).toContain("exchange-rates: published")
  })
})
