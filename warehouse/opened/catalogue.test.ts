import { assert, describe } from "@effect/vitest"
import { Freshness } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { openAsAnalyst, readContents, widen } from "@larder/test/support/warehouse/analyst.ts"
import { copyParts, makeEveryDataSet } from "@larder/test/support/warehouse/every-data-set.ts"
import { listFiles } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb, literal } from "../duckdb.ts"
import { writeCatalogue } from "./catalogue.ts"
import type { Parts } from "./parts.ts"

const published = oncePerFile(makeEveryDataSet)

const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-opened-" }))

const writeToFile = Effect.fnUntraced(function* (parts: Parts) {
  const file = `${yield* aFolder}/larder.duckdb`
  yield* writeCatalogue(file, parts)
  return file
})

/** A copy of the files, which a test may change. */
const copyTo = Effect.fnUntraced(function* (folder: string) {
  const { parts } = yield* published
  return yield* copyParts(parts, folder)
})
const change = Effect.fnUntraced(function* (file: string, sql: string) {
  const db = yield* DuckDb.readWrite(file)
  yield* db.run(sql)
}, Effect.scoped)

describe("the catalogue", () => {
  itLive("shows the columns, rows and comments of every file, with wider numbers", () =>
    Effect.gen(function* () {
      const { parts } = yield* published
      const contents = yield* readContents(yield* writeToFile(parts))
      assert.isAbove(contents.tables.length, 30)
      const tables = new Map(contents.tables.map((table) => [table.name, table]))
      const comments = new Set(contents.comments.map((comment) => JSON.stringify(comment)))
      for (const file of [parts.ingestion, ...parts.parts.map(({ file }) => file)]) {
        const fileContents = yield* readContents(file)
        for (const table of widen(fileContents.tables)) {
          // each file lists the constraints of its own tables
          const isPart = table.name === "ingest.table_constraint"
          const { rows = [], ...shown } = tables.get(table.name) ?? {}
          assert.deepStrictEqual({ ...shown, rows: isPart ? table.rows : rows }, table)
          assert.includeDeepMembers([...rows], [...table.rows])
        }
        for (const comment of fileContents.comments)
          assert.isTrue(comments.has(JSON.stringify(comment)), JSON.stringify(comment))
      }
      assert.isTrue(contents.comments.some(({ comment }) => String(comment).includes("Bundled samples")))
    })
  )
  itLive("shows pictures, the label's own amounts, and values derived from them", () =>
    Effect.gen(function* () {
      const db = yield* openAsAnalyst(yield* writeToFile((yield* published).parts))
      const selectImages = "select image_src, image_width, image_height from storefront"
      assert.deepStrictEqual(yield* db.rows(`${selectImages}.listing order by all`), [
        { image_src: "https://shop.example/oat.jpg", image_width: 640, image_height: null },
        { image_src: null, image_width: null, image_height: null }
      ])
      for (const table of ["collection", "collection_listing"]) {
        assert.deepStrictEqual(yield* db.rows(`${selectImages}.${table} order by all`), [
          { image_src: "https://shop.example/all.jpg", image_width: 320, image_height: 200 },
          { image_src: null, image_width: null, image_height: null }
        ])
      }
      // Sodium is the label's own value, although 333.5 mg per 100 g would give 100 mg. Its own vitamin D is not used.
      assert.deepStrictEqual(
        yield* db.rows(
          "select label_sodium, label_vitamin_d, sodium, vitamin_d from branded_food.food join branded_food.nutrition using (fdc_id) where fdc_id = 4"
        ),
        [{ label_sodium: "105.000000", label_vitamin_d: "0.500000", sodium: 105, vitamin_d: null }]
      )
    })
  )
  itLive("returns rows for a filter that excludes whole files", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readOnlyWithFiles(yield* writeToFile((yield* published).parts))
      const counts = [
        "select count(*)::integer as n from ingest.freshness where state = 'late' and pipeline = 'other'",
        "select count(*)::integer as n from ingest.live_left_out where pipeline = 'storefronts' and feed like 'x%'"
      ]
      for (const sql of counts) assert.deepStrictEqual(yield* db.rows(sql), [{ n: 0 }])
    })
  )
  itLive("also has the views over two files", () =>
    Effect.gen(function* () {
      const { parts } = yield* published
      const { tables } = yield* readContents(yield* writeToFile(parts))
      const names = tables.map(({ name }) => name)
      assert.includeMembers(names, ["ingest.freshness", "storefront.store_status", "storefront.last_seen"])
      for (const { file } of parts.parts) {
        const ownTables = (yield* readContents(file)).tables.map(({ name }) => name)
        assert.notInclude(ownTables, "storefront.store_status")
      }
    })
  )
  itLive("judges what is late, also from another database, with a comment on every column", () =>
    Effect.gen(function* () {
      const file = yield* writeToFile((yield* published).parts)
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(file)} as elsewhere (read_only)`)
      // prepared, because DuckDB 1.5 never finished some prepared queries that sort a union
      const judged = yield* db.rows("select kind, state from elsewhere.ingest.freshness where why <> '' order by all")
      assert.deepStrictEqual(judged, [{ kind: "store", state: "late" }]) // read in January 2026
      const columns = yield* db.rows(
        "select column_name from duckdb_columns() where database_name = 'elsewhere' and table_name = 'freshness' and length(comment) > 10 order by column_index"
      )
      assert.deepStrictEqual(
        columns.map(({ column_name }) => column_name),
        Object.keys(Freshness.fields)
      )
    })
  )
  itLive("runs macros, including those that read two schemas", () =>
    Effect.gen(function* () {
      const db = yield* openAsAnalyst(yield* writeToFile((yield* published).parts))
      const [row] = yield* db.rows(
        "select branded_food.per_serving(3.5, 28) as amount, (select count(*)::integer from commodity.observation_as_of('2026-01-05')) as prices"
      )
      assert.deepStrictEqual(row, { amount: 0.98, prices: 2 })
    })
  )
  itLive("runs macros from another database, under any name", () =>
    Effect.gen(function* () {
      const file = yield* writeToFile((yield* published).parts)
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(file)} as elsewhere (read_only)`)
      const macros = yield* db.rows(
        "select schema_name || '.' || function_name as name, parameters[1] as parameter from duckdb_functions() where database_name = 'elsewhere' and function_type = 'table_macro' order by all"
      )
      const values = yield* db.rows(
        "select elsewhere.branded_food.per_serving(3.5, elsewhere.branded_food.serving_amount(1, 'ONZ')) as amount"
      )
      assert.deepStrictEqual(values, [{ amount: 0.992 }])
      const results: Record<string, unknown> = {}
      for (const { name, parameter } of macros) {
        const argument = parameter === "moment" ? "now()" : "'none'"
        const counted = db.rows(`select count(*)::integer as rows from elsewhere.${name}(${argument})`)
        results[String(name)] = yield* Effect.match(counted, {
          onSuccess: ([row]) => row?.rows,
          onFailure: ({ message }) => /no metric is called none/.exec(message)?.[0] ?? message
        })
      }
      assert.deepStrictEqual(results, {
        "commodity.monthly": "no metric is called none",
        "commodity.observation_as_of": 2,
        "commodity.weekly": "no metric is called none",
        "storefront.variant_as_of": 2
      })
      const [amounts] = yield* db.rows(
        "select elsewhere.branded_food.per_serving(3.5, 28) as amount, elsewhere.branded_food.serving_amount(1, 'KGM')::double as serving"
      )
      assert.deepStrictEqual(amounts, { amount: 0.98, serving: 1000 })
    })
  )
  itLive("shows only the existing data sets", () =>
    Effect.gen(function* () {
      const { ingestion, parts } = (yield* published).parts
      const db = yield* openAsAnalyst(
        yield* writeToFile({ ingestion, parts: parts.filter(({ dataSet }) => dataSet.schema === "commodity") })
      )
      const schemas = yield* db.rows(
        "select distinct schema_name from duckdb_views() where database_name = 'larder' and not internal order by all"
      )
      assert.deepStrictEqual(schemas, [{ schema_name: "commodity" }, { schema_name: "ingest" }])
    })
  )
  itLive("finds only its own files, even if their folder has an unusual name", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const unusual = `${folder}/pipeline=none/it's 50%25 größe [a]*`
      const parts = yield* copyTo(unusual)
      // The first name is a pattern that the second one matches.
      const other = yield* copyTo(`${folder}/pipeline=none/it's 50%25 größe a other`)
      yield* change(other.ingestion, "delete from ingest.run")
      const file = `${unusual}/larder.duckdb`
      yield* writeCatalogue(file, parts)
      const db = yield* openAsAnalyst(file)
      assert.deepStrictEqual(yield* db.rows("select pipeline from ingest.run order by all"), [
        { pipeline: "branded-foods" },
        { pipeline: "commodities" },
        { pipeline: "storefronts" }
      ])
      assert.deepStrictEqual(yield* db.rows("select name from storefront.store"), [{ name: "Größe" }])
    })
  )
  itLive("leaves no name ambiguous, even if the files themselves are attached under their own names", () =>
    Effect.gen(function* () {
      const { parts } = yield* published
      const db = yield* openAsAnalyst(yield* writeToFile(parts))
      for (const file of [parts.ingestion, ...parts.parts.map(({ file }) => file)]) {
        yield* db.run(`attach ${literal(file)} (read_only)`)
      }
      const [row] = yield* db.rows(
        "select (select count(*) from ingest.run) as runs, (select count(*) from commodity.observation) as prices, (select count(*) from branded_food.nutrition) as labels, (select count(*) from storefront.variant) as variants"
      )
      assert.deepStrictEqual(row, { runs: "3", prices: "2", labels: "5", variants: "2" })
    })
  )
})

describe("a catalogue that is written over another", () => {
  itLive("leaves no other file, and is read-only", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* aFolder
      const file = `${folder}/larder.duckdb`
      const { parts } = yield* published
      yield* writeCatalogue(file, parts)
      const session = yield* openAsAnalyst(file)
      yield* writeCatalogue(file, { ...parts, parts: [] })
      assert.deepStrictEqual(yield* session.rows("select count(*)::integer as prices from commodity.observation"), [
        { prices: 2 }
      ])
      assert.deepStrictEqual(yield* listFiles(folder), ["larder.duckdb"])
      assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o444)
    })
  )
  itLive("is not written if a file is not a database: the previous one is unchanged", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* aFolder
      const file = `${folder}/larder.duckdb`
      const { parts } = yield* published
      yield* writeCatalogue(file, parts)
      const before = yield* fs.readFile(file)
      const broken = `${yield* aFolder}/broken.duckdb`
      yield* fs.writeFileString(broken, "not a database, although it is long enough to be one".repeat(1000))
      const error = yield* Effect.flip(writeCatalogue(file, { ...parts, ingestion: broken }))
      assert.include(error.message, broken)
      assert.deepStrictEqual(yield* listFiles(folder), ["larder.duckdb"])
      assert.deepStrictEqual(yield* fs.readFile(file), before)
    })
  )
})
