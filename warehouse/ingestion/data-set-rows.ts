/**
 * Rows of `ingest.data_set`, one for each live data set: what it is, where its rows come from, and whether they are
 * samples.
 */
import { DataSetRow } from "@larder/schemas"
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import { type About, aboutSamples } from "../tables/about.ts"

type Row = typeof DataSetRow.Type

/** What this version of Larder knows about a data set. */
export interface DataSetFacts {
  readonly schema: string
  readonly about: About
}

/** `sample` if any row is a sample, otherwise `live` if any row is from the network. */
export const originOf = (origins: ReadonlyArray<Row["origin"]>): Row["origin"] =>
  (["sample", "live", "replay"] as const).find((origin) => origins.includes(origin)) ?? "replay"

const Newest = Schema.Struct({ newest_on: DataSetRow.fields.newest_on })

/** Rows of the loaded data sets. `db` has the reads, which tell the newest day of some data sets. */
export const dataSetRows = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { data_sets }: Manifest,
  facts: ReadonlyArray<DataSetFacts>
) {
  const rows: Array<Row> = []
  for (const { about, schema } of facts) {
    const { attribution, description, licence, newest, pipeline, source_url, title } = about
    const entry = data_sets[pipeline]
    if (entry === undefined || entry.parts.length === 0) continue
    const origin = originOf(entry.origins)
    const is_sample = origin === "sample"
    const told = is_sample
      ? {
          attribution: `${aboutSamples.attribution} ${attribution}`,
          description: `${description} ${aboutSamples.description}`,
          licence: `${aboutSamples.licence} ${licence}`
        }
      : { attribution, description, licence }
    const [read] = newest.table.startsWith("ingest.")
      ? yield* db.all(Newest, `select (${newest.day})::varchar as newest_on from ${newest.table}`)
      : []
    const newest_on = read?.newest_on ?? entry.newest_on
    rows.push({
      pipeline,
      schema_name: schema,
      title,
      ...told,
      origin,
      is_sample,
      source_url,
      newest_on,
      generation: generationId(entry.changed_in)
    })
  }
  return rows
})
