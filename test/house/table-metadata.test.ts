/** Proves keys, references and comments of the tables and views over the bundled samples. */
import { readFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { codesOf } from "@larder/schemas"
import { dataSets, identifier } from "@larder/warehouse"
import { wordsOf } from "@larder/warehouse/tables/column-comments.ts"
import { ingestTables, ingestViews } from "@larder/warehouse/tables/ingest-tables.ts"
import { viewsOf } from "@larder/warehouse/tables/tables.ts"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { queryDatabase } from "../support/warehouse/analyst.ts"
import {
  type Constraint,
  findViolations,
  loadTables,
  nameOfTable,
  quoteName,
  type Relation
} from "../support/warehouse/loaded-tables.ts"
import {
  contradiction,
  isAboutTheSource,
  nouns,
  nullClaims,
  otherClaims,
  saysNull,
  transformationClaims,
  wholes
} from "./comment-claims.ts"

const scope = Scope.makeUnsafe()
let loaded: Effect.Success<ReturnType<typeof loadTables>>
let constraints: ReadonlyArray<Constraint> = []
let relations: ReadonlyArray<Relation> = []

const schemas = [...dataSets.map(({ schema }) => schema), "ingest"]
const fileOf = (name: string) => path.join(inject("sampleHome"), "warehouse", `${name}.duckdb`)
const select = (sql: string) => Effect.runPromise(loaded.db.rows(sql))

beforeAll(async () => {
  loaded = await Effect.runPromise(Scope.provide(loadTables(inject("sampleHome"), schemas), scope))
  constraints = loaded.constraints
  relations = loaded.relations
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

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
    const { checked, found } = await Effect.runPromise(findViolations(loaded))
    expect(found).toEqual([])
    expect(checked).toBe(constraints.length)
  })
  it("refers to whole keys: a join returns each row once", () => {
    const keys = new Set(
      constraints.filter(({ kind }) => kind !== "foreign key").map((key) => `${nameOfTable(key)}(${key.columns})`)
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
        : [`${nameOfTable(constraint)}.${columns[0]} → ${referenced_table}.${referenced_columns?.[0]}`]
    })
    expect(keys.toSorted()).toEqual(stated.toSorted())
    expect(keys).toEqual(
      expect.arrayContaining([
        "branded_food.food.fdc_id → branded_food.version.fdc_id",
        "branded_food.current_food.fdc_id → branded_food.food.fdc_id",
        "branded_food.trade_item.fdc_id → branded_food.food.fdc_id",
        "ingest.live_reject.run_id → ingest.live_run.run_id"
      ])
    )
  })
})

const findColumn = (name: string) => {
  const [schema, table, column] = name.split(".")
  const relation = relations.find((one) => one.name === `${schema}.${table}`)
  return relation?.columns.find((one) => one.column === column) ?? { column: name, comment: "", type: "" }
}
/** The fields of all records, by the names of their columns. */
const columnsOfRecords = () =>
  [...ingestTables, ...ingestViews, ...dataSets.flatMap((dataSet) => [...dataSet.tables, ...viewsOf(dataSet)])].flatMap(
    ({ name, record, schema }) =>
      Object.entries(record?.fields ?? {}).map(([column, field]) => [`${schema}.${name}.${column}`, field] as const)
  )

describe("numbers", () => {
  const members = (column: string) =>
    [
      ["nutrients", "amount"],
      ["daily_values", "percent"],
      ["variants", "price"],
      ["variants", "compare_at_price"]
    ].flatMap(([list, field]) => (list === column ? [`(unnest(${column})).${field}`] : []))

  it("can be squared and summed in every view, also those in lists", async () => {
    const columns = relations.flatMap(({ columns, name }) =>
      columns.flatMap(({ column, type }) => (type.includes("DECIMAL(") ? [{ column, name, type }] : []))
    )
    expect(columns.length).toBeGreaterThan(60)
    const types = new Set(columns.flatMap(({ type }) => type.match(/DECIMAL\([^)]*\)/g) ?? []))
    expect([...types].toSorted()).toEqual(["DECIMAL(19,2)", "DECIMAL(19,4)", "DECIMAL(19,6)"])
    for (const { column, name, type } of columns) {
      const numbers = type.startsWith("DECIMAL") ? [identifier(column)] : members(column)
      expect(numbers, `${name}.${column}`).not.toEqual([])
      for (const number of numbers) {
        await select(`select sum(n * n), var_samp(n) from (select ${number} as n from ${quoteName(name)})`)
      }
    }
  })
})

describe("comments", () => {
  it("begin with the columns of the key, which say what one row is", () => {
    const wrong = constraints.flatMap((constraint) => {
      if (constraint.kind === "foreign key") return []
      const { comment = "" } = relations.find(({ name }) => name === nameOfTable(constraint)) ?? {}
      const [, start = ""] = /^One row per ([^.]+)/.exec(comment) ?? []
      const whole = wholes[nameOfTable(constraint)]
      const words = whole === undefined ? constraint.columns.map((column) => nouns[column] ?? column) : [whole]
      const missing = words.filter((word) => !start.includes(word))
      return start !== "" && missing.length === 0 ? [] : [{ name: nameOfTable(constraint), missing, comment }]
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
  it("say of every column with null that it may be null, and of every list with `[]` that it may be empty", async () => {
    const wrong = []
    for (const { columns, name } of relations) {
      const counts = columns.flatMap(({ column, type }) => [
        `count(*) filter (${identifier(column)} is null) as ${identifier(`${column} null`)}`,
        `${type.endsWith("[]") ? `count(*) filter (len(${identifier(column)}) = 0)` : "0"} as ${identifier(`${column} []`)}`
      ])
      const [row = {}] = await select(`select ${counts.join(", ")} from ${quoteName(name)}`)
      for (const { column, comment } of columns) {
        const hasNull = Number(row[`${column} null`]) > 0
        const isEmpty = Number(row[`${column} []`]) > 0
        if (hasNull && !saysNull(comment)) wrong.push(`${name}.${column} is null`)
        if (isEmpty && !comment.includes("`[]` if ")) wrong.push(`${name}.${column} is []`)
      }
    }
    expect(wrong).toEqual([])
  })
  it("say null only of columns that can be null, and `[]` only of lists", () => {
    const wrong = columnsOfRecords().flatMap(([name, field]) => {
      const { comment, type } = findColumn(name)
      const says = [saysNull(comment), comment.includes("`[]` if ")]
      const can = [wordsOf(field).isNullable, type.endsWith("[]") && says[1]]
      return says.join() === can.join() ? [] : [{ name, comment }]
    })
    expect(wrong).toEqual([])
  })
  it("say truly when a column is null, unless only the source knows", async () => {
    const claims = new Map(nullClaims.flatMap((claim) => claim.columns.map((column) => [column, claim] as const)))
    const wrong: Array<unknown> = []
    for (const { columns, name } of relations) {
      for (const { column, comment } of columns) {
        const full = `${name}.${column}`
        const known = claims.get(full)
        if (known !== undefined) {
          if (!new RegExp(`\\bnull\\b.*(?:${known.claim})`, "i").test(comment)) wrong.push({ full, comment })
          const rows = await select(`from ${quoteName(name)} where ${contradiction(identifier(column), known)} limit 1`)
          if (rows.length > 0) wrong.push({ full, claim: known.claim, rows })
        } else if (saysNull(comment)) {
          const [, claim = ""] = /\bnull ([^.;]+)/i.exec(comment) ?? []
          if (!isAboutTheSource(claim)) wrong.push({ full, claim })
        }
      }
    }
    expect(wrong).toEqual([])
    expect([...claims.keys()].filter((name) => findColumn(name).comment === "")).toEqual([])
  })
  it("list all codes that a column can have", async () => {
    const codes = columnsOfRecords().flatMap(([name, field]) =>
      codesOf(field).length > 0 || /\.(region|market_level)$/.test(name) ? [name] : []
    )
    expect(codes.length).toBeGreaterThan(30)
    const unlisted = []
    for (const name of codes) {
      const [schema, table, column = ""] = name.split(".")
      const found = await select(
        `select distinct ${identifier(column)} as code from ${quoteName(`${schema}.${table}`)}`
      )
      for (const { code } of found) {
        if (code !== null && !findColumn(name).comment.includes(`\`${code}\``)) unlisted.push(`${name}: ${code}`)
      }
    }
    expect(unlisted).toEqual([])
  })
  it("state the unit of each number that has one", () => {
    const wrong = columnsOfRecords().flatMap(([name, field]) => {
      const { comment, type } = findColumn(name)
      const stated = /\bin (kcal|mg|µg|g|pixels|bytes|seconds|percent|`currency`|`serving_size_unit`)(?![\w`])/.exec(
        comment
      )?.[1]
      const { unit } = wordsOf(field)
      if (!/INT|DECIMAL|DOUBLE/.test(type) || type.endsWith("[]")) return []
      const isStated = unit?.startsWith("`")
        ? /in the unit of its|`currency`|`serving_size_unit`/.test(comment)
        : unit === stated
      return isStated ? [] : [{ name, unit, stated }]
    })
    expect(wrong).toEqual([])
  })
  it("say truly what was done to the values of the source", async () => {
    const wrong = []
    let claims = 0
    for (const { columns, name } of relations) {
      for (const { column, comment } of columns) {
        for (const [, contradicts] of transformationClaims.filter(([claim]) => comment.includes(claim))) {
          claims++
          const rows = `from ${quoteName(name)} where ${contradicts(identifier(column))} limit 1`
          wrong.push(...(await select(`select '${name}.${column}' as name, ${identifier(column)} as value ${rows}`)))
        }
      }
    }
    expect(wrong).toEqual([])
    expect(claims).toBeGreaterThan(50)
  })
  it("say nothing else that the samples contradict", async () => {
    const wrong = []
    for (const { claim, column, rows } of otherClaims) {
      if (!findColumn(column).comment.includes(claim)) wrong.push({ column, claim })
      wrong.push(...(await select(`${rows} limit 1`)))
    }
    expect(wrong).toEqual([])
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
