/** Proves each key and reference of `ingest.table_constraint` over the bundled samples. */
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { identifier } from "@larder/warehouse"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it } from "vitest"
import { queryDatabase } from "../support/warehouse/analyst.ts"

interface Constraint {
  readonly schema_name: string
  readonly table_name: string
  readonly kind: string
  readonly columns: ReadonlyArray<string>
  readonly referenced_table: string | null
  readonly referenced_columns: ReadonlyArray<string> | null
}

const query = (file: string, ...queries: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.provide(queryDatabase(path.join(inject("sampleHome"), "warehouse", file), ...queries), NodeServices.layer)
  )

const quote = (name: string) => name.split(".").map(identifier).join(".")
const listColumns = (columns: ReadonlyArray<string>) => columns.map(identifier).join(", ")

/**
 * Queries for the first row that contradicts a constraint. Each reads a view at most once: DuckDB 1.5.5 hangs in a prepared
 * query that reads `live_reject` twice through the catalogue.
 */
const findViolations = ({ columns, kind, referenced_columns, referenced_table, ...table }: Constraint) => {
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

const selectConstraints = "from ingest.table_constraint"
const selectRelations = `
  select distinct schema_name || '.' || table_name as name from duckdb_columns()
  where database_name = 'larder' and not internal order by name`

const files = ["larder", "commodities", "branded-foods", "storefronts", "ingestion"].map((name) => `${name}.duckdb`)

let constraints: ReadonlyArray<Constraint> = []
beforeAll(async () => {
  const [rows = []] = await query("larder.duckdb", selectConstraints)
  constraints = rows as unknown as ReadonlyArray<Constraint>
})

describe("ingest.table_constraint", () => {
  it.each(files)("has one key for each table and view of its file: %s", async (file) => {
    const [rows = [], relations = []] = await query(file, selectConstraints, selectRelations)
    const keyed = rows.flatMap(({ kind, schema_name, table_name }) =>
      kind === "foreign key" ? [] : [`${schema_name}.${table_name}`]
    )
    expect(keyed.toSorted()).toEqual(relations.map(({ name }) => name))
  })
  it("says what is true of every row", async () => {
    expect(constraints.length).toBeGreaterThan(80)
    const queries = constraints.flatMap(findViolations)
    const found = await query("larder.duckdb", ...queries)
    expect(queries.filter((_, index) => found[index]?.length !== 0)).toEqual([])
  })
  it("has a foreign key for each column whose comment says that it refers to another one", async () => {
    const [references = []] = await query(
      "larder.duckdb",
      `select schema_name || '.' || table_name || '.' || column_name as name,
         regexp_extract(comment, 'Refers to \`(\\S+)\`', 1) as target
       from duckdb_columns() where database_name = 'larder' and contains(comment, 'Refers to \`')`
    )
    const foreignKeys = constraints.flatMap(
      ({ columns, referenced_columns, referenced_table, schema_name, table_name }) =>
        referenced_table === null
          ? []
          : [`${schema_name}.${table_name}.${columns[0]} → ${referenced_table}.${referenced_columns?.[0]}`]
    )
    expect(foreignKeys.toSorted()).toEqual(references.map(({ name, target }) => `${name} → ${target}`).toSorted())
  })
})
