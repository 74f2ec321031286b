/** Proves keys, references and comments of the tables and views over the bundled samples. */
import { readFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, identifier, literal } from "@larder/warehouse"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { queryDatabase } from "../support/warehouse/analyst.ts"

interface Constraint {
  readonly schema_name: string
  readonly table_name: string
  readonly kind: string
  readonly columns: ReadonlyArray<string>
  readonly referenced_table: string | null
  readonly referenced_columns: ReadonlyArray<string> | null
}
interface Relation {
  readonly name: string
  readonly comment: string
  readonly columns: ReadonlyArray<{ readonly column: string; readonly comment: string }>
}

const scope = Scope.makeUnsafe()
let db: DuckDb["Service"]
let constraints: ReadonlyArray<Constraint> = []
let relations: ReadonlyArray<Relation> = []

const fileOf = (name: string) => path.join(inject("sampleHome"), "warehouse", `${name}.duckdb`)
const select = (sql: string) => Effect.runPromise(db.rows(sql))
const quote = (name: string) => name.split(".").map(identifier).join(".")
const listColumns = (columns: ReadonlyArray<string>) => columns.map(identifier).join(", ")
const nameOf = ({ schema_name, table_name }: Constraint) => `${schema_name}.${table_name}`

/** Reads each view once, into a table under its name: most of them take longer than all tests over the tables. */
beforeAll(async () => {
  db = await Effect.runPromise(Scope.provide(DuckDb.memory, scope))
  await Effect.runPromise(db.run(`attach ${literal(fileOf("larder"))} as larder (read_only); use larder`))
  constraints = (await select("from ingest.table_constraint")) as unknown as typeof constraints
  relations = (await select(`
    select c.schema_name || '.' || table_name as name, any_value(v.comment) as comment,
      list({'column': column_name, 'comment': c.comment} order by column_index) as columns
    from duckdb_columns() c
    join duckdb_views() v on (c.database_name, c.schema_name, c.table_name) = (v.database_name, v.schema_name, view_name)
    where c.database_name = 'larder' and not v.internal
    group by all order by name`)) as unknown as typeof relations
  const schemas = new Set(relations.map(({ name }) => name.split(".")[0] ?? ""))
  await Effect.runPromise(db.run([...schemas].map((schema) => `create schema memory.${schema}`).join("; ")))
  for (const { name } of relations) {
    await Effect.runPromise(db.run(`create table memory.${quote(name)} as from ${quote(name)}`))
  }
  await Effect.runPromise(db.run("use memory"))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** Queries for a row that contradicts a constraint. */
const violations = ({ columns, kind, referenced_columns, referenced_table, ...table }: Constraint) => {
  const name = `${identifier(table.schema_name)}.${identifier(table.table_name)}`
  const key = listColumns(columns)
  if (kind === "foreign key") {
    const referenced = `select ${listColumns(referenced_columns ?? [])} from ${quote(referenced_table ?? "")}`
    return [`select ${key} from ${name} where ${key} is not null and ${key} not in (${referenced}) limit 1`]
  }
  const duplicate = `select ${key} from ${name} group by ${key} having count(*) > 1 limit 1`
  const isNull = columns.map((column) => `${identifier(column)} is null`).join(" or ")
  return kind === "unique" ? [duplicate] : [duplicate, `select ${key} from ${name} where ${isNull} limit 1`]
}

describe("ingest.table_constraint", () => {
  it.each(["larder", "commodities", "branded-foods", "storefronts", "ingestion"])(
    "has one key for each table and view of its file: %s",
    async (file) => {
      const [keys = [], names = []] = await Effect.runPromise(
        Effect.provide(
          queryDatabase(
            fileOf(file),
            "select schema_name || '.' || table_name as name from ingest.table_constraint where kind <> 'foreign key' order by name",
            "select distinct schema_name || '.' || table_name as name from duckdb_columns() where database_name = 'larder' and not internal order by name"
          ),
          NodeServices.layer
        )
      )
      expect(keys).toEqual(names)
    }
  )
  it("says what is true of every row", async () => {
    expect(constraints.length).toBeGreaterThan(80)
    const found = []
    for (const query of constraints.flatMap(violations)) {
      for (const row of await select(query)) found.push({ query, row })
    }
    expect(found).toEqual([])
  })
  it("refers to whole keys: a join returns each row once", () => {
    const keys = new Set(
      constraints.filter(({ kind }) => kind !== "foreign key").map((key) => `${nameOf(key)}(${key.columns})`)
    )
    const references = constraints.filter(({ kind }) => kind === "foreign key")
    expect(references.length).toBeGreaterThan(30)
    const others = references.filter(
      ({ referenced_columns, referenced_table }) => !keys.has(`${referenced_table}(${referenced_columns})`)
    )
    expect(others).toEqual([])
  })
  it("has a foreign key for each column whose comment says that it refers to another one", () => {
    const stated = relations.flatMap(({ columns, name }) =>
      columns.flatMap(({ column, comment }) => {
        const target = /Refers to `(\S+)`/.exec(comment)?.[1]
        return target === undefined ? [] : [`${name}.${column} → ${target}`]
      })
    )
    const keys = constraints.flatMap((constraint) => {
      const { columns, referenced_columns, referenced_table } = constraint
      return referenced_table === null
        ? []
        : [`${nameOf(constraint)}.${columns[0]} → ${referenced_table}.${referenced_columns?.[0]}`]
    })
    expect(keys.toSorted()).toEqual(stated.toSorted())
  })
})

/** How comments name the columns of keys, where the word is not the column's own name. */
const nouns: Readonly<Record<string, string>> = {
  metric_name: "metric",
  observed_on: "day",
  value_text: "value",
  published_at: "publication time",
  revision_status: "status",
  realtime_start: "value",
  fdc_id: "label version",
  gtin_14: "barcode",
  nutrient_id: "nutrient",
  derivation_id: "derivation",
  slug: "series",
  store_id: "store",
  product_id: "product",
  collection_id: "collection",
  variant_id: "variant",
  run_id: "run",
  raw_sha256: "payload",
  url: "address",
  columns: "key and reference"
}
/** Comments that describe the whole key in words, without its columns. */
const wholes: Readonly<Record<string, string>> = {
  "branded_food.current_food": "product",
  "commodity.product": "product",
  "ingest.freshness":
    "metric, per metric with final values, per form of the releases of branded foods, per other feed, per store, and per data set",
  "ingest.check_result": "run and check",
  "ingest.table_constraint": "key and reference of each table and view"
}

describe("numbers", () => {
  it("can be squared and summed in every view", async () => {
    const columns = await select(
      "select schema_name || '.' || table_name as name, column_name as column, data_type as type from duckdb_columns() where database_name = 'larder' and data_type like 'DECIMAL(%)'"
    )
    expect(columns.length).toBeGreaterThan(50)
    expect([...new Set(columns.map(({ type }) => type))].toSorted()).toEqual([
      "DECIMAL(19,2)",
      "DECIMAL(19,4)",
      "DECIMAL(19,6)"
    ])
    for (const { column, name } of columns) {
      const number = identifier(String(column))
      await select(`select sum(${number} * ${number}), var_samp(${number}) from ${quote(String(name))}`)
    }
  })
})

describe("comments", () => {
  it("begin with the columns of the key, which say what one row is", () => {
    const wrong = constraints.flatMap((constraint) => {
      if (constraint.kind === "foreign key") return []
      const { comment = "" } = relations.find(({ name }) => name === nameOf(constraint)) ?? {}
      const [, start = ""] = /^One row per ([^.]+)/.exec(comment) ?? []
      const whole = wholes[nameOf(constraint)]
      const words = whole === undefined ? constraint.columns.map((column) => nouns[column] ?? column) : [whole]
      const missing = words.filter((word) => !start.includes(word))
      return start !== "" && missing.length === 0 ? [] : [{ name: nameOf(constraint), missing, comment }]
    })
    expect(wrong).toEqual([])
  })
  it("are needed only for documented macros", async () => {
    const macros = await select(
      "select distinct schema_name || '.' || function_name as name from duckdb_functions() where database_name = 'larder' order by name"
    )
    const documented = [...readFileSync("docs/dictionary.md", "utf8").matchAll(/^### `([a-z_]+\.[a-z_]+)\(/gm)]
    expect(macros.map(({ name }) => name)).toEqual(documented.map(([, name]) => name).toSorted())
  })
  it("of table macros begin in the same way", async () => {
    const macros = await select(
      "select function_name, comment from duckdb_functions() where database_name = 'larder' and function_type = 'table_macro'"
    )
    expect(macros.length).toBeGreaterThan(2)
    expect(macros.filter(({ comment }) => !/^One row per /.test(String(comment)))).toEqual([])
  })
  it("are different for each table and view", () => {
    const comments = relations.map(({ comment }) => comment)
    expect(comments.filter((comment, index) => comments.indexOf(comment) !== index)).toEqual([])
  })
  it("name only tables, columns and macros that exist", async () => {
    const macros = await select(
      "select schema_name || '.' || function_name as name, comment from duckdb_functions() where database_name = 'larder'"
    )
    const known = new Set([
      ...relations.flatMap(({ columns, name }) => [name, ...columns.map(({ column }) => `${name}.${column}`)]),
      ...macros.map(({ name }) => String(name))
    ])
    const schemas = new Set([...known].map((name) => name.split(".")[0]))
    const comments = [
      ...relations.flatMap(({ columns, comment }) => [comment, ...columns.map((column) => column.comment)]),
      ...macros.map(({ comment }) => String(comment))
    ]
    const named = comments.flatMap((comment) =>
      [...comment.matchAll(/`([a-z_]+\.[a-z0-9_.]+)/g)].map(([, name = ""]) => name)
    )
    expect(named.length).toBeGreaterThan(50)
    const unknown = named.filter((name) => schemas.has(name.split(".")[0]) && !known.has(name))
    expect([...new Set(unknown)]).toEqual([])
  })
  it("say of every column with null that it may be null", async () => {
    const silent = []
    for (const { columns, name } of relations) {
      const counts = columns.map(
        ({ column }) => `count(*) filter (${identifier(column)} is null) as ${identifier(column)}`
      )
      const [row = {}] = await select(`select ${counts.join(", ")} from ${quote(name)}`)
      for (const { column, comment } of columns) {
        if (row[column] !== "0" && !/\bnull\b/i.test(comment)) silent.push(`${name}.${column}`)
      }
    }
    expect(silent).toEqual([])
  })
  it("state the units of the nutrients from which nutrition is computed", async () => {
    const sql = readFileSync("warehouse/tables/branded_food/nutrition.sql", "utf8")
    const units = new Map(
      (await select("select nutrient_id, unit from branded_food.nutrient")).map(({ nutrient_id, unit }) => [
        Number(nutrient_id),
        String(unit)
      ])
    )
    const { columns = [] } = relations.find(({ name }) => name === "branded_food.nutrition") ?? {}
    const computed = [
      ...sql.matchAll(/list_position\(ids, (\d+)\)\]\)?,? .*?as (\w+),?$|list_position\(ids, (\d+)\)\] as (\w+)/gm)
    ]
    expect(computed.length).toBeGreaterThan(10)
    for (const [, firstId, firstName, id = firstId, name = firstName] of computed) {
      const unit = units.get(Number(id)) ?? ""
      const { comment = "" } = columns.find(({ column }) => column === name) ?? {}
      expect(comment).toMatch(new RegExp(` in ${unit}\\b`, "u"))
    }
  })
})
