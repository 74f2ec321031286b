/** Compares the files and query results in the documents with the warehouse of the bundled samples. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, dataSets } from "@larder/warehouse"
import { freshnessView } from "@larder/warehouse/opened/freshness.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { queryInEachZone } from "../support/warehouse/analyst.ts"
import { freshnessOf, leftOut, metricRows } from "../support/warehouse/freshness.ts"
import { type Document, docs, findFences, readDocument, readme } from "./documents.ts"

const warehouse = readDocument("docs/warehouse.md").text

interface Query {
  readonly title: string
  readonly sql: string
  /** Undefined if the document shows none. */
  readonly result: ReadonlyArray<ReadonlyArray<string>> | undefined
}

/** Whether the SQL only opens the warehouse, and has no result. */
const opensWarehouse = (sql: string) => sql.startsWith("attach ")

/** Each SQL block, with the block directly after it. At least two spaces separate its columns. */
const findQueries = (document: Document): ReadonlyArray<Query> => {
  const fences = findFences(document)
  return fences.flatMap(({ end, language, text }, index) => {
    if (language !== "sql" || opensWarehouse(text)) return []
    const next = fences[index + 1]
    const between = document.text.slice(end, document.text.indexOf("```", end))
    const isResult = next !== undefined && next.language === "" && between.trim() === ""
    const result = isResult
      ? next.text
          .trim()
          .split("\n")
          .map((line) => line.trim().split(/ {2,}/))
      : undefined
    const [line = ""] = text.split("\n").filter((line) => line.startsWith("from"))
    return [{ title: `${document.file}, ${line}`, sql: text.trim().replace(/;$/, ""), result }]
  })
}
const queries = [readme, ...docs].flatMap(findQueries)

/** Column names and rows as texts, in a session of each time zone. */
const runQueries = async (...statements: ReadonlyArray<string>) => {
  const file = path.join(inject("sampleHome"), "warehouse", "larder.duckdb")
  const results = await Effect.runPromise(Effect.provide(queryInEachZone(file, statements), NodeServices.layer))
  return [...results.values()].map((resultsOfZone) =>
    resultsOfZone.map((rows) => [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))])
  )
}

describe("the README", () => {
  it("counts the rows of the bundled samples as a run does", async () => {
    const [[[, ...runs] = []] = []] = await runQueries(`
      select pipeline, generation, format('{:,} rows read: {:,} new, {:,} with nothing new, {:,} rejected',
        rows_read, rows_loaded, rows_unchanged, rows_rejected) as counts
      from ingest.run order by generation`)
    const printed = runs.map(([pipeline, generation, counts]) => `${pipeline}: published ${generation}\n  ${counts}`)
    expect(printed.length).toBeGreaterThanOrEqual(3)
    expect(readme.text).toContain(printed.slice(0, 3).join("\n")) // the README may omit later data sets
  })
})

describe("docs/warehouse.md", () => {
  it("lists every file that users open, and the views that are in no file of a data set", () => {
    const listedFiles = [...warehouse.matchAll(/^\| `([a-z-]+\.duckdb)` \|/gm)].map((match) => match[1] ?? "")
    const files = ["larder", ...dataSets.map(({ about }) => about.pipeline), "ingestion"].map(
      (name) => `${name}.duckdb`
    )
    expect(listedFiles).toEqual(files)
    const views = [...dataSets.flatMap(({ viewsOverIngest = [] }) => viewsOverIngest), freshnessView(dataSets)]
    const [paragraph = ""] = /^- Three views combine[\s\S]*?(?=\n- )/m.exec(warehouse) ?? []
    expect([...paragraph.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map((match) => match[1]).slice(1)).toEqual(
      views.map(({ name, schema }) => `${schema}.${name}`)
    )
  })
  const [statements = ""] = findFences(readDocument("docs/warehouse.md")).map(({ text }) => text)
  it("begins with statements that open it, after which two-part names and macros work", async () => {
    expect(opensWarehouse(statements)).toBe(true)
    const session = Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(statements.replace("data/warehouse", path.join(inject("sampleHome"), "warehouse")))
      return yield* db.rows(
        `select (select count(*) from commodity.observation_as_of('2026-07-10')) < (select count(*) from commodity.observation) as grew,
           branded_food.per_serving(3.5, 28) as amount`
      )
    })
    expect(await Effect.runPromise(Effect.scoped(session))).toEqual([{ grew: true, amount: 0.98 }])
  })
  it("lets queries write temporary files to the reader's folder, not to the warehouse", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "larder-queries-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const live = path.join(inject("sampleHome"), "warehouse")
    const listFiles = (directory: string) => readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()
    const before = listFiles(live)
    const session = Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(statements.replace("data/warehouse", live).replace("/tmp/larder-queries", folder))
      yield* db.run("set memory_limit = '64MB'; set threads = 2")
      yield* db.run(
        `create temp table large as
         select fdc_id, description, hash(fdc_id, copy) as mixed from branded_food.food, range(1000) copies(copy)`
      )
      return yield* db.rows("select path from duckdb_temporary_files()")
    })
    const temporaryFiles = await Effect.runPromise(Effect.scoped(session))
    expect(temporaryFiles).not.toEqual([])
    for (const { path: file } of temporaryFiles) expect(path.dirname(String(file))).toBe(folder)
    expect(listFiles(live)).toEqual(before)
  })
})

describe("docs/ingesting.md", () => {
  const { queryFreshness } = freshnessOf()
  it("says how to ask for what is late, a sample, missing or not loaded, and for nothing else", async () => {
    const { text } = readDocument("docs/ingesting.md")
    const [, condition = "false"] = /missing data sets either asks for\s+`([^`]*)`/.exec(text) ?? []
    const newest = { last_observed_on: "2026-08-29" }
    const ended = { ...newest, ended_on: "2026-08-29", feed: "ended" }
    const metrics = {
      newest,
      ended,
      never: { printed: "sometimes", no_values_reason: "none" },
      late: { last_observed_on: "2026-06-27" }
    }
    const rows = metricRows(metrics, { "ingest.left_out": [leftOut(1, "commodities", "ended", "partial")] })
    const named = `subject, (${condition}) as named`
    const [found, samples] = await Effect.runPromise(
      Effect.all([
        queryFreshness(named, "2026-09-01", rows),
        queryFreshness(named, "2026-09-01", {
          ...metricRows({ newest }),
          "ingest.data_set": [{ pipeline: "commodities", is_sample: true }]
        })
      ])
    )
    expect(found.filter((row) => row.named).map(({ subject }) => subject)).toEqual(["ended", "late"])
    expect(samples).toEqual([{ subject: "newest", named: true }])
  })
})

describe("the queries of README and docs", () => {
  it("are all shown with their results", () => {
    expect(queries.filter(({ result }) => result === undefined).map(({ title }) => title)).toEqual([])
    expect(queries.length).toBeGreaterThan(5)
  })

  describe("in sessions of several time zones", () => {
    let results: Awaited<ReturnType<typeof runQueries>> = []
    beforeAll(async () => {
      results = await runQueries(...queries.map(({ sql }) => sql))
    })
    it.each(queries.map((query, index) => ({ ...query, index })))(
      "return the result that is shown below them: $title",
      ({ index, result }) => {
        expect(results.map((resultsOfZone) => resultsOfZone[index])).toEqual([result, result, result])
      }
    )
  })
})
