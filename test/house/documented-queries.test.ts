/** The warehouse in the docs: every table is there, and every query that is shown with its answer gives that answer. */
import { realpathSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import {
  checkResultTable,
  dataSets,
  dataSetTable,
  ingestTables,
  leftOutTable,
  runTable,
  viewsOf
} from "@larder/warehouse/tables.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it } from "vitest"
import { inEachZone } from "../support/warehouse/sessions.ts"
import { type Document, docs, documentAt, fencesOf, readme } from "./documents.ts"

const warehouse = documentAt("docs/warehouse.md").text
const tables = [
  runTable,
  checkResultTable,
  leftOutTable,
  dataSetTable,
  ...ingestTables,
  ...dataSets.flatMap((dataSet) => [...dataSet.tables, ...viewsOf(dataSet)])
].map(({ name, schema }) => `${schema}.${name}`)
const listed = [...warehouse.matchAll(/^\| `([a-z_]+\.[a-z_]+)(?:\([^`]*\))?` \|/gm)].map((match) => match[1] ?? "")

interface Query {
  readonly title: string
  readonly sql: string
  /** Undefined where none is shown. */
  readonly answer: ReadonlyArray<ReadonlyArray<string>> | undefined
}

/** Each SQL block, and the block right behind it. Columns are two blanks or more apart. */
const queriesIn = (document: Document): ReadonlyArray<Query> => {
  const fences = fencesOf(document)
  return fences.flatMap(({ end, language, text }, at) => {
    if (language !== "sql") return []
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
  const file = realpathSync(path.join(inject("sampleHome"), "warehouse", "larder.duckdb"))
  const answers = await Effect.runPromise(Effect.provide(inEachZone(file, asked), NodeServices.layer))
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
    expect(printed).toHaveLength(3)
    expect(readme.text).toContain(printed.join("\n"))
  })
})

describe("docs/warehouse.md", () => {
  it("lists every table, view and macro once, and no other", () => {
    expect(listed.toSorted()).toEqual(tables.toSorted())
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
