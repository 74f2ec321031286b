/** Reads the lake with other engines, which come from PyPI, and the warehouse with DuckDB. */
import { spawn } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { DuckDb, dataSets, identifier, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { cleanEnvironment, type Environment, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { installFromPython, installOnce } from "../support/tools.ts"

const readers = fileURLToPath(new URL("readers.py", import.meta.url))

export interface TableSummary {
  readonly rows: number
  /** The digest of all values. */
  readonly digest: string
  /** DuckDB's names for the types of the columns that the engine returns. */
  readonly types: Readonly<Record<string, string>>
  readonly comment?: string | null
  readonly comments?: Readonly<Record<string, string | null>>
  /** The generation of a version of a Delta log. */
  readonly generation?: string
  readonly version?: number
}

/** Installs Python with the packages of a list in `test/lake`, once. Returns the path of the program. */
export const installPython = async (list: string) => {
  const requirements = fileURLToPath(new URL(`${list}.txt`, import.meta.url))
  return path.join(await installFromPython(`lake/${list}`, requirements), "python")
}

/** These are in Maven's repository. */
const jars = ["io.delta:delta-spark_2.13:4.0.0", "io.delta:delta-storage:4.0.0", "org.antlr:antlr4-runtime:4.13.1"]

/** Downloads the libraries with which Spark reads Delta logs, once, with Maven. */
export const downloadSparkJars = async () => {
  const folder = path.join(repository, "node_modules/.cache/lake/jars")
  const copies = jars.map(
    (jar) => ["mvn", "-q", "dependency:copy", `-Dartifact=${jar}`, `-DoutputDirectory=${folder}`] as const
  )
  await installOnce(folder, copies, undefined, {})
  return jars.map((jar) => path.join(folder, `${jar.split(":").slice(1).join("-")}.jar`)).join(",")
}

export type Tables = Readonly<Record<string, TableSummary>>

interface Request<Engine extends string> {
  readonly engines: ReadonlyArray<Engine>
  /** A folder or an address. */
  readonly lake: string
  /** By default, the newest of all tables. */
  readonly versions?: Readonly<Record<string, number>>
}

/** Reads lakes in one process, which starts each engine once. Each result is keyed by engine. */
export const readWithEngines = async <Engine extends string>(
  python: string,
  requests: ReadonlyArray<Request<Engine>>,
  environment: Environment = {}
): Promise<ReadonlyArray<Readonly<Record<Engine, Tables>>>> => {
  const child = spawn(python, [readers, JSON.stringify(requests)], {
    env: cleanEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 600_000
  })
  const { code, stderr, stdout } = await waitForExit(child)
  if (code !== 0) throw new Error(`the lakes cannot be read:\n${stderr}`)
  return JSON.parse(stdout)
}

/** Numbers of rows, digests of all values, and types. */
export const pickValues = (tables: Tables) =>
  Object.fromEntries(Object.entries(tables).map(([name, { digest, rows, types }]) => [name, { digest, rows, types }]))
export const pickComments = (tables: Tables) =>
  Object.fromEntries(
    Object.entries(tables).map(([name, { comment, comments }]) => [name, { table: comment, columns: comments }])
  )

const quoteName = (table: string) => table.split(".").map(identifier).join(".")

/** The views that the lake has as tables. */
const lakeViews = dataSets
  .flatMap(({ views }) => views)
  .filter(({ isInLake }) => isInLake)
  .map(({ name, schema }) => `(${literal(schema)}, ${literal(name)})`)

/**
 * Summarises each table in the files that people open, and each view that the lake has. JSON is compared as text. With `never null`, null lists are compared
 * as empty ones.
 */
export const readWarehouse = (home: string, lists: "as they are" | "never null" = "as they are"): Promise<Tables> =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    const summaries: Record<string, TableSummary> = {}
    for (const name of ["commodities", "branded-foods", "storefronts", "ingestion"]) {
      const file = path.join(home, "warehouse", `${name}.duckdb`)
      yield* db.run(`attach ${literal(file)} as ${identifier(name)} (read_only); use ${identifier(name)}`)
      const columns = yield* db.rows(
        `select schema_name || '.' || table_name as "table", t.comment as table_comment, column_name, data_type, c.comment
         from duckdb_columns() c
         join (
           select database_name, schema_name, table_name, comment from duckdb_tables()
           union all
           select database_name, schema_name, view_name, comment from duckdb_views()
           where (schema_name, view_name) in (${lakeViews.join(", ")})
         ) t using (database_name, schema_name, table_name)
         where database_name = current_database() order by all`
      )
      for (const [table = "", fields = []] of Map.groupBy(columns, (column) => String(column.table))) {
        const replaced = fields.flatMap(({ column_name: name, data_type }) => {
          if (data_type === "JSON") return [`${name}::varchar as ${name}`]
          return String(data_type).endsWith("[]") && lists === "never null" ? [`coalesce(${name}, []) as ${name}`] : []
        })
        const source = `select * ${replaced.length === 0 ? "" : `replace (${replaced.join(", ")})`} from ${quoteName(table)}`
        const [summary] = yield* db.rows(
          `select count(*)::integer as rows, md5(coalesce(string_agg(line, '' order by line), '')) as digest
           from (select md5(t::varchar) as line from (${source}) t)`
        )
        summaries[table] = {
          rows: Number(summary?.rows),
          digest: String(summary?.digest),
          types: Object.fromEntries(
            fields.map(({ column_name, data_type }) => [
              String(column_name),
              data_type === "JSON" ? "VARCHAR" : String(data_type)
            ])
          ),
          comment: String(fields[0]?.table_comment),
          comments: Object.fromEntries(fields.map(({ column_name, comment }) => [String(column_name), String(comment)]))
        }
      }
      yield* db.run(`use memory; detach ${identifier(name)}`)
    }
    return summaries
  }).pipe(Effect.scoped, Effect.runPromise)
