import { statSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  listFiles,
  pears,
  publishRows,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Schema } from "effect"
import type { Layout } from "../generation/layout.ts"
import { readKeptManifests } from "../generation/manifest.ts"
import { rawFileTable, rejectTable } from "../tables/ingest-tables.ts"
import type { DataSet } from "../tables/tables.ts"
import { stage } from "./staging.ts"

/** A first run, a second one with new rows for each table, and a third that differs only in ignored columns. */
const threeRuns = oncePerFile(
  Effect.gen(function* () {
    const layout = yield* aLayout
    const quince = { item: "quince", price: "4.0000" }
    const first = yield* publishRows(layout, {
      shelves: ["cellar", "kitchen"],
      prices: [apples, pears, { ...quince, price: "3.9000" }, quince].map((price) => ({ ...price, run_id: "first" })),
      deliveries: [
        { item: "apple", quantity: 5, run_id: "first" },
        { item: "quince", quantity: 5, run_id: "first" },
        { item: "quince", quantity: 6, run_id: "first" }
      ]
    })
    const found = {
      shelves: ["kitchen"],
      prices: [
        { ...pears, price: "2.5000", run_id: "second" },
        { item: "plum", price: "3.0000", run_id: "second" }
      ],
      deliveries: [
        { item: "apple", quantity: 7, run_id: "second" }, // the same key: the first row stays
        { item: "pear", quantity: 1, run_id: "second" },
        { item: "apple", note: "again", quantity: 2, run_id: "second" }
      ]
    }
    const second = yield* publishRows(layout, found)
    const prices = found.prices.map((price) => ({ ...price, seen_on: "2026-02-05", run_id: "third" }))
    const third = yield* publishRows(layout, { shelves: ["kitchen"], prices })
    return { layout, runs: [first.run, second.run, third.run] }
  })
)
const queryRows = (sql: string) => Effect.flatMap(threeRuns, ({ layout }) => queryWarehouse(layout, sql))

describe("merging", () => {
  itLive("counts new and unchanged rows, and finds nothing new in ignored columns", () =>
    Effect.gen(function* () {
      const { runs } = yield* threeRuns
      assert.deepStrictEqual(
        runs.map(({ outcome, rows_loaded, rows_read, rows_unchanged }) => [
          outcome,
          rows_read,
          rows_loaded,
          rows_unchanged
        ]),
        [
          ["published", 7, 5, 2],
          ["published", 5, 4, 1],
          ["unchanged", 2, 0, 2]
        ]
      )
    })
  )
  itLive("append: keeps the first row of a key, even if several staged rows have it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryRows("select item, quantity, note, run_id from example.delivery order by all"),
        [
          { item: "apple", quantity: 2, note: "again", run_id: "second" },
          { item: "apple", quantity: 5, note: null, run_id: "first" },
          { item: "pear", quantity: 1, note: null, run_id: "second" },
          { item: "quince", quantity: 5, note: null, run_id: "first" }
        ]
      )
    })
  )
  itLive("replace: uses rows that differ, and the last of several staged ones, and keeps the others", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* queryRows("select item, price, seen_on, run_id from example.price order by item"), [
        { item: "apple", price: "1.2500", seen_on: "2026-01-05", run_id: "first" },
        { item: "pear", price: "2.5000", seen_on: "2026-01-05", run_id: "second" },
        { item: "plum", price: "3.0000", seen_on: "2026-01-05", run_id: "second" },
        { item: "quince", price: "4.0000", seen_on: "2026-01-05", run_id: "first" }
      ])
    })
  )
  itLive("replace all: keeps exactly the staged rows", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* queryRows("from example.shelf"), [{ shelf: "kitchen", position: 1 }])
    })
  )
})

const Word = Schema.Struct({ word: Schema.String, meanings: Schema.NullOr(Schema.Array(Schema.String)) })
const words: DataSet = {
  ...example.dataSet,
  about: { ...example.dataSet.about, newest: { in: "data", table: "example.word", day: "max(null::date)" } },
  tables: [
    {
      schema: "example",
      name: "word",
      record: Word,
      ddl: "create table if not exists example.word (word varchar, meanings varchar[])",
      merge: { by: "replace", key: ["word"] }
    }
  ],
  views: [],
  countSourceRows: "select count(*)::integer as rows from example.word"
}

const publishMeanings = Effect.fnUntraced(function* (layout: Layout, meanings: ReadonlyArray<string>) {
  const run = aRun({ rows_read: meanings.length })
  const { staged } = yield* stage(layout, run, words, ({ db }) =>
    db.run(`insert into example.word values ${meanings.map((list, word) => `('${word}', ${list})`).join(", ")}`)
  )
  return yield* publishStaged(layout, words, staged, run)
}, Effect.scoped)

/** The payloads of a run, and the rejects of each: positions by feed. */
type Payloads = ReadonlyArray<{
  readonly sha: string
  readonly mapping: string
  readonly rejects: Readonly<Record<string, ReadonlyArray<number>>>
}>

const publishRejects = Effect.fnUntraced(function* (layout: Layout, payloads: Payloads) {
  const run = aRun()
  const about = { pipeline: "example", run_id: run.run_id }
  const { staged } = yield* stage(layout, run, example.dataSet, (staging) =>
    Effect.andThen(
      staging.add(
        rawFileTable,
        payloads.map(({ mapping, sha }) => ({
          ...about,
          feed: "shop",
          raw_sha256: sha,
          url: `https://shop.example/${sha}`,
          fetched_at: "2026-01-05T10:00:00.000Z",
          bytes: 1,
          rows_read: 9,
          rows_rejected: 0,
          mapping_sha256: mapping
        }))
      ),
      staging.add(
        rejectTable,
        payloads.flatMap(({ rejects, sha }) =>
          Object.entries(rejects).flatMap(([feed, positions]) =>
            positions.map((position) => ({
              ...about,
              feed,
              raw_sha256: sha,
              position,
              reason: "it is green",
              payload: "{}"
            }))
          )
        )
      )
    )
  )
  return yield* publishStaged(layout, example.dataSet, staged, run)
}, Effect.scoped)

const queryRejects = (layout: Layout) =>
  Effect.map(
    queryWarehouse(
      layout,
      "select raw_sha256 || ' ' || feed || ' ' || position as reject from ingest.live_reject order by all"
    ),
    (rows) => rows.map(({ reject }) => reject)
  )

describe("merging rejects", () => {
  const first: Payloads = [
    { sha: "a", mapping: "1", rejects: { shop: [1, 2], "shop/prices.csv": [7], shopping: [1] } },
    { sha: "b", mapping: "1", rejects: { shop: [1] } }
  ]
  const withRejects = copyPerTest(
    Effect.tap(aLayout, (layout) =>
      Effect.andThen(publishRows(layout, { prices: [apples] }), publishRejects(layout, first))
    )
  )
  const rejects = ["a shop 1", "a shop 2", "a shop/prices.csv 7", "a shopping 1", "b shop 1"]

  itLive("keeps rejects of payloads that are not read again, or are read with the same result", () =>
    Effect.gen(function* () {
      const layout = yield* withRejects
      assert.deepStrictEqual(yield* queryRejects(layout), rejects)
      assert.strictEqual((yield* publishRejects(layout, first)).run.outcome, "unchanged")
      yield* publishRejects(layout, [{ sha: "c", mapping: "1", rejects: { shop: [3] } }])
      assert.deepStrictEqual(yield* queryRejects(layout), [...rejects, "c shop 3"])
    })
  )
  itLive("keeps only the rejects of the last read of a payload, and those of another feed with the same bytes", () =>
    Effect.gen(function* () {
      const layout = yield* withRejects
      yield* publishRejects(layout, [{ sha: "a", mapping: "2", rejects: { shop: [2, 3] } }])
      assert.deepStrictEqual(yield* queryRejects(layout), ["a shop 2", "a shop 3", "a shopping 1", "b shop 1"])
      yield* publishRejects(layout, [{ sha: "a", mapping: "3", rejects: {} }])
      assert.deepStrictEqual(yield* queryRejects(layout), ["a shopping 1", "b shop 1"])
    })
  )
  itLive("hides rejects that the same mapping does not find again", () =>
    Effect.gen(function* () {
      const layout = yield* withRejects
      const { run } = yield* publishRejects(layout, [{ sha: "a", mapping: "1", rejects: { shop: [1] } }])
      assert.strictEqual(run.outcome, "unchanged") // it has rejects, but no row of the data set
      assert.deepStrictEqual(yield* queryRejects(layout), ["a shop 1", "a shopping 1", "b shop 1"])
      assert.strictEqual((yield* queryWarehouse(layout, "from ingest.reject")).length, 6)
    })
  )
})

describe("merging: rows with lists that replace others", () => {
  itLive("distinguishes lists that look alike, and finds nothing new in equal ones", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const before = ["null", "[]", "['a', 'b']", "['a', null]"]
      const after = ["[]", "null", "['a, b']", "['a']"]
      yield* publishMeanings(layout, before)
      assert.strictEqual((yield* publishMeanings(layout, before)).run.outcome, "unchanged")
      const { run } = yield* publishMeanings(layout, after)
      assert.deepStrictEqual([run.outcome, run.rows_loaded], ["published", 4])
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select meanings from example.word order by word"),
        yield* queryWarehouse(
          layout,
          after.map((meanings) => `select ${meanings}::varchar[] as meanings`).join(" union all ")
        )
      )
    })
  )
})

describe("a run with nothing new", () => {
  const withApples = copyPerTest(Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] })))
  itLive("adds its records, but no new part of its data set: the file that people open stays the same", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const found = {
        shelves: ["cellar"],
        prices: [apples],
        deliveries: [{ item: "apple" }],
        rejects: ["price is N/A"]
      }
      yield* publishRows(layout, found)
      const before = statSync(layout.dataSetFile("example")).ino
      const { checks, run } = yield* publishRows(layout, found)
      assert.deepStrictEqual(checks, [])
      assert.deepStrictEqual(run, {
        ...run,
        outcome: "unchanged",
        generation: null,
        rows_read: 3,
        rows_loaded: 0,
        rows_unchanged: 2,
        rows_rejected: 1
      })
      assert.strictEqual(statSync(layout.dataSetFile("example")).ino, before)
      const [first, second] = yield* readKeptManifests(layout.depot)
      assert.deepStrictEqual(second?.data_sets, first?.data_sets)
      assert.strictEqual(second?.ingest.parts.length, 2)
      assert.strictEqual((yield* queryWarehouse(layout, "from ingest.run")).length, 2)
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
    })
  )
  itLive("stays partial if some feeds were missing", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const { run } = yield* publishRows(layout, { prices: [apples] }, { run: { outcome: "partial" } })
      assert.deepStrictEqual([run.outcome, run.generation], ["partial", null])
    })
  )
})
