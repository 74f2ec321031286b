/** The warehouse in the docs: every table is there, and every query that is shown with its answer gives that answer. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, dataSets, ingestTables, ingestViews, viewsOf } from "@larder/warehouse"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { queryInEachZone } from "../support/warehouse/analyst.ts"
import { type Document, docs, documentAt, fencesOf, readme } from "./documents.ts"

const warehouse = documentAt("docs/warehouse.md").text
const tables = [
  ...ingestTables,
  ...ingestViews,
  ...dataSets.flatMap((dataSet) => [...dataSet.tables, ...viewsOf(dataSet)])
].map(({ name, schema }) => `${schema}.${name}`)
const listed = [...warehouse.matchAll(/^\| `([a-z_]+\.[a-z_]+)(?:\([^`]*\))?` \|/gm)]
  .map((match) => match[1] ?? "")
  .filter((name) => !name.endsWith(".duckdb"))

interface Query {
  readonly title: string
  readonly sql: string
  /** Undefined where none is shown. */
  readonly answer: ReadonlyArray<ReadonlyArray<string>> | undefined
}

/** How to open the warehouse, which answers nothing. */
const isRecipe = (sql: string) => sql.startsWith("attach ")

/** Each SQL block, and the block right behind it. Columns are two blanks or more apart. */
const queriesIn = (document: Document): ReadonlyArray<Query> => {
  const fences = fencesOf(document)
  return fences.flatMap(({ end, language, text }, at) => {
    if (language !== "sql" || isRecipe(text)) return []
    const next = fences[at + 1]
    const between = document.text.slice(end, document.text.indexOf("```", end))
    const isAnswer = next !== undefined && next.language === "" && between.trim() === ""
    const answer = isAnswer
      ? next.text
          .trim()
          .split("\n")
          .map((line) => line.trim().split(/ {2,}/))
      : undefined
    const [line = ""] = text.split("\n").filter((line) => line.startsWith("from"))
    return [{ title: `${document.file}, ${line}`, sql: text.trim().replace(/;$/, ""), answer }]
  })
}
const queries = [readme, ...docs].flatMap(queriesIn)

/** Column names and rows as texts, in a session of each time zone. */
const ask = async (...asked: ReadonlyArray<string>) => {
  const file = path.join(inject("sampleHome"), "warehouse", "larder.duckdb")
  const answers = await Effect.runPromise(Effect.provide(queryInEachZone(file, asked), NodeServices.layer))
  return [...answers.values()].map((ofZone) =>
    ofZone.map((rows) => [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))])
  )
}

describe("the README", () => {
  it("counts the rows of the bundled samples as a run does", async () => {
    const [[[, ...runs] = []] = []] = await ask(`
      select pipeline, generation, format('{:,} rows read: {:,} new, {:,} with nothing new, {:,} rejected',
        rows_read, rows_loaded, rows_unchanged, rows_rejected) as counts
      from ingest.run order by generation`)
    const printed = runs.map(([pipeline, generation, counts]) => `${pipeline}: published ${generation}\n  ${counts}`)
    expect(printed.length).toBeGreaterThanOrEqual(3)
    expect(readme.text).toContain(printed.slice(0, 3).join("\n")) // those of later data sets need not be there
  })
})

describe("docs/warehouse.md", () => {
  it("lists every table, view and macro once, and no other", () => {
    expect(listed.toSorted()).toEqual(tables.toSorted())
  })
  it("lists every file that people open, and the views that no file of a data set has", () => {
    const shown = [...warehouse.matchAll(/^\| `([a-z-]+\.duckdb)` \|/gm)].map((match) => match[1] ?? "")
    const opened = ["larder", ...dataSets.map(({ about }) => about.pipeline), "ingestion"].map(
      (name) => `${name}.duckdb`
    )
    expect(shown).toEqual(opened)
    const over = dataSets.flatMap(({ viewsOverIngest = [] }) => viewsOverIngest)
    const [told = ""] = /^- Two views put[\s\S]*?(?=\n- )/m.exec(warehouse) ?? []
    expect([...told.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map((match) => match[1]).slice(1)).toEqual(
      over.map(({ name, schema }) => `${schema}.${name}`)
    )
  })
  const [recipe = ""] = fencesOf(documentAt("docs/warehouse.md")).map(({ text }) => text)
  it("begins with how to open it, which lets a session use names of two parts and macros", async () => {
    expect(isRecipe(recipe)).toBe(true)
    const session = Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(recipe.replace("data/warehouse", path.join(inject("sampleHome"), "warehouse")))
      return yield* db.rows(
        `select (select count(*) from commodity.price_as_of('2026-07-10')) < (select count(*) from commodity.price) as grew,
           branded_food.per_serving(3.5, 28) as amount`
      )
    })
    expect(await Effect.runPromise(Effect.scoped(session))).toEqual([{ grew: true, amount: 0.98 }])
  })
  it("has queries that need more memory spill into the reader's own folder, and not into the warehouse", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "larder-recipe-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const live = path.join(inject("sampleHome"), "warehouse")
    const filesIn = (of: string) => readdirSync(of, { recursive: true, encoding: "utf8" }).sort()
    const before = filesIn(live)
    const session = Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(recipe.replace("data/warehouse", live).replace("/tmp/larder-queries", folder))
      yield* db.run("set memory_limit = '64MB'; set threads = 2")
      yield* db.run(
        `create temp table large as
         select fdc_id, description, hash(fdc_id, copy) as mixed from branded_food.food, range(1000) copies(copy)`
      )
      return yield* db.rows("select path from duckdb_temporary_files()")
    })
    const spilled = await Effect.runPromise(Effect.scoped(session))
    expect(spilled).not.toEqual([])
    for (const { path: file } of spilled) expect(path.dirname(String(file))).toBe(folder)
    expect(filesIn(live)).toEqual(before)
  })
})

describe("the queries of README and docs", () => {
  it("are all shown with their answers", () => {
    expect(queries.filter(({ answer }) => answer === undefined).map(({ title }) => title)).toEqual([])
    expect(queries.length).toBeGreaterThan(5)
  })

  describe("in sessions of several time zones", () => {
    let answers: Awaited<ReturnType<typeof ask>> = []
    beforeAll(async () => {
      answers = await ask(...queries.map(({ sql }) => sql))
    })
    it.each(queries.map((query, index) => ({ ...query, index })))(
      "give the answer that is written below them: $title",
      ({ answer, index }) => {
        expect(answers.map((ofZone) => ofZone[index])).toEqual([answer, answer, answer])
      }
    )
  })
})
