/**
 * `larder.duckdb`, which shows all data sets together: a small database of views over the files of the data sets, with
 * the project's own views and macros over those. It holds no rows, and refers to files by permanent names, so it is
 * written again only when its definitions change. A query sees what is live when it begins, and a transaction keeps
 * that state until its end.
 *
 * A view contains the absolute path of its file, so the catalogue works on this machine only, and `read_duckdb`
 * requires DuckDB 1.5 or newer. Users who need an ordinary file open that of a data set, or take a snapshot.
 */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, FileSystem, Path } from "effect"
import { dataSets } from "../data-sets.ts"
import { wholeFile } from "../disk.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, type Manifest } from "../generation/manifest.ts"
import { stampOf } from "../generation/parts.ts"
import { definitionHash } from "../tables/dictionary.ts"
import { nameOf } from "../tables/earlier-versions.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { viewsOf } from "../tables/tables.ts"
import {
  attachParts,
  createSchemas,
  dataSetFileOf,
  definedOtherwise,
  describing,
  detachParts,
  type Parts,
  rowsOf,
  type Source,
  sourcesOf
} from "./parts.ts"

export interface Catalogue extends Parts {
  readonly file: string
}

/** `read_duckdb` treats the path as a pattern. A folder called `year=2026` must not become a column. */
const readDuckdb = ({ file, table }: Source) =>
  `read_duckdb(${literal(file.replaceAll(/[*?[]/g, "[$&]"))}, schema_name = ${literal(table.schema)}, table_name = ${literal(table.name)}, hive_partitioning = false)`

const viewOf = (source: Source) => `create view ${nameOf(source.table)} as ${rowsOf(source, readDuckdb(source))}`

const fill = Effect.fnUntraced(function* (part: string, parts: Parts) {
  const db = yield* DuckDb.memory
  const compared = definedOtherwise(parts)
  yield* attachParts(db, compared)
  const sources = yield* sourcesOf(db, parts)
  // DuckDB 1.5.5 fails if `read_duckdb` reads an attached file twice in one transaction.
  yield* db.run([...detachParts(compared), `attach ${literal(part)} as made`, "use made"].join(";\n"))
  const definitions = [...createSchemas(parts), ...sources.map(viewOf), ...describing(parts, sources, "view")]
  yield* db.run(["begin", ...definitions, "commit"].join("\n;\n"))
  yield* markAllSamples(db)
  yield* db.run("checkpoint made; use memory; detach made")
}, Effect.scoped)

/** Writes the catalogue of these files, and replaces the existing one. */
export const writeCatalogue = Effect.fn("writeCatalogue")(function* ({ file, ingestion, parts }: Catalogue) {
  const path = yield* Path.Path
  const absolute = {
    ingestion: path.resolve(ingestion),
    parts: parts.map((part) => ({ ...part, file: path.resolve(part.file) }))
  }
  yield* wholeFile(file, (part) => fill(part, absolute))
})

type DataSets = Manifest["data_sets"]

/** The files that the catalogue shows, under their permanent names, so that it need not follow each publication. */
const shownBy = (layout: Layout, data_sets: DataSets): Parts => ({
  parts: dataSets
    .filter(({ about: { pipeline } }) => isLoaded(data_sets[pipeline]))
    .map((dataSet) => {
      const { pipeline } = dataSet.about
      return dataSetFileOf(dataSet, layout.dataSetFile(pipeline), data_sets[pipeline])
    }),
  ingestion: layout.ingestion
})

const hashOf = (lines: ReadonlyArray<string>) => createHash("sha256").update(lines.join("\n")).digest("hex")

/**
 * The stamp of the catalogue when it was written, and the data sets that it shows: every version of Larder can compare
 * these.
 */
const notedDataSets = async (layout: Layout, data_sets: DataSets) => {
  const shown = Object.entries(data_sets)
    .filter(([, entry]) => isLoaded(entry))
    .map(([pipeline, { origins, schema }]) => `${layout.dataSetFile(pipeline)} ${schema} ${origins.includes("sample")}`)
  return `${await stampOf(layout.catalogue)} ${hashOf(shown.sort())}`
}

/** The same, and the definitions of this version: if neither has changed, the catalogue stays. */
const noteOf = async (layout: Layout, data_sets: DataSets) => {
  const { parts } = shownBy(layout, data_sets)
  const all = [
    { tables: ingestTables, views: ingestViews },
    ...parts.map(({ dataSet }) => ({ tables: dataSet.tables, views: viewsOf(dataSet) }))
  ]
  return `${await notedDataSets(layout, data_sets)} ${hashOf(all.map(definitionHash))}\n`
}

const notedIn = ({ catalogue, seen }: Layout) => join(seen, basename(catalogue))

const isNoted = (layout: Layout, isOf: (note: string) => Promise<boolean>) =>
  Effect.promise(async () => {
    try {
      return await isOf(await readFile(notedIn(layout), "utf8"))
    } catch {
      return false
    }
  })

/** Whether the catalogue exists and shows these data sets. That of a folder that was moved or copied does not. */
export const isCatalogueOf = (layout: Layout, data_sets: DataSets) =>
  isNoted(layout, async (note) => note === (await noteOf(layout, data_sets)))

/** The same, whichever version of Larder wrote it. */
export const isCatalogueOfAnyVersion = (layout: Layout, data_sets: DataSets) =>
  isNoted(layout, async (note) => note.startsWith(`${await notedDataSets(layout, data_sets)} `))

/**
 * Writes the catalogue if it does not show these data sets, of which this version can read those in `readable`. Their
 * files must be there under their names.
 */
export const refreshCatalogue = Effect.fn("Catalogue.refresh")(function* (
  layout: Layout,
  data_sets: DataSets,
  readable: DataSets
) {
  const fs = yield* FileSystem.FileSystem
  if (yield* isCatalogueOf(layout, data_sets)) return
  yield* writeCatalogue({ file: layout.catalogue, ...shownBy(layout, readable) })
  yield* fs.makeDirectory(layout.seen, { recursive: true })
  const note = yield* Effect.tryPromise(() => noteOf(layout, data_sets))
  yield* fs.writeFileString(notedIn(layout), note)
})
