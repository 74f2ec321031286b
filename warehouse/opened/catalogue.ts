/**
 * `larder.duckdb`, which shows all data sets together: a small database of views over the files of the data sets, with the
 * project's own views and macros over those. It holds no rows, so it is written anew whenever a file takes another's place.
 *
 * A view knows the absolute path of its file, so the catalogue is of use on this machine only, and only DuckDB 1.5 and newer
 * has `read_duckdb`. Who needs an ordinary file opens the one of a data set, or takes a snapshot.
 */
import { createHash } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, FileSystem, Path } from "effect"
import { commentsOf } from "../dictionary.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { markAllSamples } from "../sample-marks.ts"
import { ingestTables, viewsOf } from "../tables.ts"
import {
  attachParts,
  createSchemas,
  describing,
  detachParts,
  nameOf,
  type Parts,
  rowsOf,
  type Source
} from "./parts.ts"
import { wholeFile } from "./whole-file.ts"

export interface Catalogue extends Parts {
  readonly file: string
}

/** The path is a pattern to `read_duckdb`. A folder called `year=2026` is no column of ours. */
const readDuckdb = ({ file, table }: Source) =>
  `read_duckdb(${literal(file.replaceAll(/[*?[]/g, "[$&]"))}, schema_name = ${literal(table.schema)}, table_name = ${literal(table.name)}, hive_partitioning = false)`

const viewOf = (source: Source) => `create view ${nameOf(source.table)} as ${rowsOf(source, readDuckdb(source))}`

const fill = Effect.fnUntraced(function* (part: string, parts: Parts) {
  const db = yield* DuckDb.memory
  const sources = yield* attachParts(db, parts)
  // DuckDB 1.5.5 fails where `read_duckdb` reads an attached file twice in one transaction.
  yield* db.run([...detachParts(sources), `attach ${literal(part)} as made`, "use made"].join(";\n"))
  const definitions = [...createSchemas(parts), ...sources.map(viewOf), ...describing(parts, sources, "view")]
  yield* db.run(["begin", ...definitions, "commit"].join("\n;\n"))
  yield* markAllSamples(db)
  yield* db.run("checkpoint made; use memory; detach made")
}, Effect.scoped)

/** Writes the catalogue of these files in the place of the one that is there. */
export const writeCatalogue = Effect.fn("writeCatalogue")(function* ({ file, ingestion, parts }: Catalogue) {
  const path = yield* Path.Path
  const absolute = {
    ingestion: path.resolve(ingestion),
    parts: parts.map(({ dataSet, file }) => ({ dataSet, file: path.resolve(file) }))
  }
  yield* wholeFile(file, (part) => fill(part, absolute))
})

/** What a catalogue says, and what it was when it was written: where neither has changed, it stays. */
const noteOf = async (layout: Layout, parts: Parts) => {
  const definitions = [
    ...ingestTables,
    ...parts.parts.flatMap(({ dataSet }) => [...dataSet.tables, ...viewsOf(dataSet)])
  ]
  const told = [
    ...parts.parts.map(({ file }) => file),
    ...definitions.map(({ ddl }) => ddl),
    ...parts.parts.flatMap(({ dataSet }) => dataSet.tables.flatMap((table) => commentsOf(table, "view")))
  ]
  const { ino, mtimeNs, size } = await stat(layout.catalogue, { bigint: true })
  return `${size} ${ino} ${mtimeNs} ${createHash("sha256").update(told.join("\n")).digest("hex")}\n`
}

const notedIn = ({ catalogue, seen }: Layout) => join(seen, basename(catalogue))

/** Whether the catalogue is there and shows these files. One of a folder that was moved or copied does not. */
export const isCatalogueOf = (layout: Layout, parts: Parts) =>
  Effect.promise(async () => {
    try {
      return (await readFile(notedIn(layout), "utf8")) === (await noteOf(layout, parts))
    } catch {
      return false
    }
  })

/** Writes the catalogue where it does not show these files. */
export const refreshCatalogue = Effect.fn("Catalogue.refresh")(function* (layout: Layout, parts: Parts) {
  const fs = yield* FileSystem.FileSystem
  if (yield* isCatalogueOf(layout, parts)) return
  yield* writeCatalogue({ file: layout.catalogue, ...parts })
  yield* fs.makeDirectory(layout.seen, { recursive: true })
  const note = yield* Effect.tryPromise(() => noteOf(layout, parts))
  yield* fs.writeFileString(notedIn(layout), note)
})
