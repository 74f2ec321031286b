/**
 * Writes `larder.duckdb`, which shows all data sets together: a view of each table, over the file of its data set, and
 * the project's own views and macros. It contains no rows, and refers to files by permanent names, so it is written again
 * only when its definitions change. A query sees what is live when it begins, and a transaction keeps that state.
 *
 * A view contains the absolute path of its file, so the catalogue works on this machine only, and `read_duckdb`
 * requires DuckDB 1.5 or newer. Users who need an ordinary file open one of a data set, or make a snapshot.
 */
import { createHash } from "node:crypto"
import { Effect, Path } from "effect"
import { dataSets } from "../data-sets.ts"
import { writeAtomically } from "../disk.ts"
import { DuckDb, identifier, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, type Manifest } from "../generation/manifest.ts"
import { isMarked, readStamp, writeMarker } from "../generation/markers.ts"
import { definitionHash, qualifiedName } from "../tables/dictionary.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { type View, viewsOf } from "../tables/tables.ts"
import { widerNumbers } from "../tables/wider-numbers.ts"
import { freshnessView } from "./freshness.ts"
import { listSources, type Parts, schemaStatements, type TableSource, viewsAndComments } from "./parts.ts"

/** `read_duckdb` treats the path as a pattern. A folder called `year=2026` must not become a column. */
const sourceExpression = ({ file, table }: TableSource) =>
  `read_duckdb(${literal(file.replaceAll(/[*?[]/g, "[$&]"))}, schema_name = ${literal(table.schema)}, table_name = ${literal(table.name)}, hive_partitioning = false)`

const createViewStatement = (source: TableSource) => {
  const wider = widerNumbers(source.table)
  const columns = wider === "" ? "*" : `* replace (${wider})`
  return `create view ${qualifiedName(source.table)} as select ${columns} from ${sourceExpression(source)}`
}

/**
 * DuckDB looks up the names in the body of a macro where the macro is called, which may be in another database. So the body
 * contains the queries of the views that it reads, and reads the files, as they do.
 */
const defineAnywhere = (sources: ReadonlyArray<TableSource>, views: ReadonlyArray<View>) => {
  const tables = sources.map(
    (source) => [`${source.table.schema}.${source.table.name}`, sourceExpression(source)] as const
  )
  const queries = views.flatMap(({ ddl, name, record, schema }) =>
    record === undefined
      ? []
      : [[`${schema}.${name}`, `(${ddl.replace(/^create or replace view \S+ as\s/, "")})`] as const]
  )
  const expressions = new Map([...tables, ...queries])
  const expand = (sql: string): string =>
    sql.replaceAll(
      /\b(from|join) (\w+)\.(\w+)( as \w+)?/g,
      (text, word, schema, name, alias = ` as ${identifier(name)}`) => {
        const expression = expressions.get(`${schema}.${name}`)
        return expression === undefined ? text : `${word} ${expand(expression)}${alias}`
      }
    )
  return ({ ddl, record }: View): string => (record === undefined ? expand(ddl) : ddl)
}

const fill = Effect.fnUntraced(function* (file: string, parts: Parts) {
  const db = yield* DuckDb.memory
  const sources = listSources(parts)
  yield* db.run(`attach ${literal(file)} as made; use made`)
  const definitions = [
    ...schemaStatements(parts),
    ...sources.map(createViewStatement),
    ...viewsAndComments(
      parts,
      sources,
      "view",
      defineAnywhere(
        sources,
        parts.parts.flatMap(({ dataSet }) => viewsOf(dataSet))
      )
    )
  ]
  yield* db.run(["begin", ...definitions, "commit"].join("\n;\n"))
  yield* markAllSamples(db)
  yield* db.run("checkpoint made; use memory; detach made")
}, Effect.scoped)

export const writeCatalogue = Effect.fn("writeCatalogue")(function* (file: string, { ingestion, parts }: Parts) {
  const path = yield* Path.Path
  const absolute = {
    ingestion: path.resolve(ingestion),
    parts: parts.map((part) => ({ ...part, file: path.resolve(part.file) }))
  }
  yield* writeAtomically(file, (temporary) => fill(temporary, absolute))
})

type DataSets = Manifest["data_sets"]

const hashLines = (lines: ReadonlyArray<string>) => createHash("sha256").update(lines.join("\n")).digest("hex")

/** The stamp of the catalogue, and the data sets that it shows: every version of Larder can compare these. */
const describeDataSets = async (layout: Layout, data_sets: DataSets) => {
  const shown = Object.entries(data_sets)
    .filter(([, entry]) => isLoaded(entry))
    .map(
      ([pipeline, { definition, origins }]) =>
        `${layout.dataSetFile(pipeline)} ${definition} ${origins.includes("sample")}`
    )
  return { stamp: await readStamp(layout.catalogue), data_sets: hashLines(shown.sort()) }
}

/** Adds the definitions of this version: if nothing has changed, the catalogue is not written. */
const describeCatalogue = async (layout: Layout, data_sets: DataSets) => {
  const shown = dataSets.filter(({ about }) => isLoaded(data_sets[about.pipeline]))
  const defined = [
    { tables: ingestTables, views: [...ingestViews, freshnessView(shown)] },
    ...shown.map((dataSet) => ({ tables: dataSet.tables, views: viewsOf(dataSet) }))
  ]
  return { ...(await describeDataSets(layout, data_sets)), definitions: hashLines(defined.map(definitionHash)) }
}

const markerName = "larder.duckdb"

const isMarkedAs = (layout: Layout, describe: () => Promise<Readonly<Record<string, string>>>) =>
  Effect.tryPromise(describe).pipe(
    Effect.flatMap((facts) => isMarked(layout, markerName, facts)),
    Effect.orElseSucceed(() => false) // there is no catalogue yet
  )

/** Whether this version wrote the catalogue and it shows these data sets. False in a folder that was moved or copied. */
export const isCatalogueOf = (layout: Layout, data_sets: DataSets) =>
  isMarkedAs(layout, () => describeCatalogue(layout, data_sets))

/** Whether any version wrote the catalogue, and it shows these data sets. */
export const isCatalogueOfAnyVersion = (layout: Layout, data_sets: DataSets) =>
  isMarkedAs(layout, () => describeDataSets(layout, data_sets))

/**
 * Writes the catalogue if it does not show these data sets. `readable` are those that this version can read. They are
 * shown under the permanent names of their files, so a publication alone does not change the catalogue.
 */
export const refreshCatalogue = Effect.fn("Catalogue.refresh")(function* (
  layout: Layout,
  data_sets: DataSets,
  readable: Parts["parts"]
) {
  if (yield* isCatalogueOf(layout, data_sets)) return
  const parts = readable.map((part) => ({ ...part, file: layout.dataSetFile(part.dataSet.about.pipeline) }))
  yield* writeCatalogue(layout.catalogue, { parts, ingestion: layout.ingestion })
  yield* writeMarker(layout, markerName, yield* Effect.tryPromise(() => describeCatalogue(layout, data_sets)))
})
