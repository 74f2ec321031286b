import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { makeEveryDataSet } from "@larder/test/support/warehouse/every-data-set.ts"
import { queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Option, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { DuckDb } from "../duckdb.ts"
import { freshnessView } from "../opened/freshness.ts"
import { commentStatements } from "./dictionary.ts"
import { ingestTables, ingestViews } from "./ingest-tables.ts"
import { viewsOf } from "./tables.ts"

/** Every table and view of a warehouse. */
const allTables = [...ingestTables, ...dataSets.flatMap(({ tables }) => tables)]
const allRelations = [...allTables, ...ingestViews, ...dataSets.flatMap(viewsOf)]

/** A warehouse with the tables of every data set. */
const published = oncePerFile(Effect.map(makeEveryDataSet, ({ layout }) => layout))

describe("a published warehouse", () => {
  itLive("has only the schemas of the data sets and of the runs", () =>
    Effect.gen(function* () {
      const schemas = yield* queryWarehouse(
        yield* published,
        "select distinct schema_name from (select schema_name from duckdb_tables() union select schema_name from duckdb_views() where not internal) order by all"
      )
      assert.deepStrictEqual(
        schemas.map(({ schema_name }) => schema_name),
        [...dataSets.map(({ schema }) => schema), "ingest"].sort()
      )
    })
  )
  itLive("describes every table and view in a comment", () =>
    Effect.gen(function* () {
      const comments = yield* queryWarehouse(
        yield* published,
        `select schema_name, table_name, comment from duckdb_tables()
         union all select schema_name, view_name, comment from duckdb_views() where not internal`
      )
      assert.isAbove(comments.length, 10)
      assert.deepStrictEqual(
        comments.filter(({ comment }) => comment === null || String(comment).length < 5),
        []
      )
    })
  )
  itLive("describes every column in a comment, including columns of views", () =>
    Effect.gen(function* () {
      const columns = yield* queryWarehouse(
        yield* published,
        "select table_name, column_name, comment from duckdb_columns() where not internal"
      )
      assert.isAbove(columns.length, 60)
      assert.isTrue(columns.some(({ table_name }) => table_name === "vintage"))
      assert.deepStrictEqual(
        columns.filter(({ comment }) => comment === null || String(comment).length < 5),
        []
      )
    })
  )
  itLive("has all times in UTC, according to their comments, except times in a report's local time", () =>
    Effect.gen(function* () {
      const times = yield* queryWarehouse(
        yield* published,
        `select schema_name || '.' || column_name as name, data_type, comment from duckdb_columns()
         where not internal and data_type like '%TIME%'`
      )
      assert.isAbove(times.length, 15)
      const reportTimes = times.filter(({ name }) => /^commodity\.(.*published_at|last_updated)$/.test(String(name)))
      assert.strictEqual(reportTimes.length, 4)
      for (const { comment } of reportTimes) assert.match(String(comment), /local time.*without a zone/)
      assert.deepStrictEqual(
        times.filter((time) => !reportTimes.includes(time) && !/\bUTC\b/.test(String(time.comment))),
        []
      )
      assert.deepStrictEqual([...new Set(times.map(({ data_type }) => data_type))], ["TIMESTAMP"])
    })
  )
  it("says how to compare times in UTC with the clock, but not days", () => {
    const compared = commentStatements(freshnessView(dataSets), "view").flatMap((statement) => {
      const [, column = ""] = /\."(\w+)" is .*Compare it with `now\(\)/.exec(statement) ?? []
      return column === "" ? [] : [column]
    })
    assert.deepStrictEqual(compared, ["last_complete_read_at", "expected_at", "late_at"])
  })
  itLive("has the columns of the records in the same order, because rows are appended by position", () =>
    Effect.gen(function* () {
      const layout = yield* published
      for (const relation of allRelations) {
        if (relation.record === undefined) continue
        const columns = yield* queryWarehouse(
          layout,
          `select column_name from (describe ${relation.schema}."${relation.name}")`
        )
        assert.deepStrictEqual(
          columns.map(({ column_name }) => column_name),
          Object.keys(relation.record.fields),
          `${relation.schema}.${relation.name}`
        )
      }
    })
  )
  // The catalogue reads files with `read_duckdb`. In DuckDB 1.5 it silently returns null for every field of such a
  // column, but reads lists of structs correctly.
  itLive("has no column that is a struct", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      const schemas = new Set(allTables.map(({ schema }) => `create schema ${schema}`))
      yield* db.run([...schemas, ...allTables.map(({ ddl }) => ddl)].join(";\n"))
      const columns = yield* db.rows(
        "select table_name, column_name, data_type from duckdb_columns() where not internal order by all"
      )
      assert.isAbove(columns.length, 250)
      assert.deepStrictEqual(
        columns.filter(({ data_type }) => /^STRUCT\(.*\)$/.test(String(data_type))),
        []
      )
    })
  )
  itLive("has nullable columns exactly where the record does", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      for (const table of allTables) {
        yield* db.run(`create schema if not exists ${table.schema}; ${table.ddl}`)
        const columns = yield* db.rows(`describe ${table.schema}."${table.name}"`)
        const optional = columns
          .filter(({ null: isOptional }) => isOptional === "YES")
          .map(({ column_name }) => column_name)
        const nullable = Object.entries(table.record.fields)
          .filter(([, field]) => Option.isSome(Schema.decodeUnknownOption(Schema.toType(field))(null)))
          .map(([name]) => name)
        assert.deepStrictEqual(optional, nullable, `${table.schema}.${table.name}`)
      }
    })
  )
})
