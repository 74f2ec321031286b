/**
 * What answers say about the data set that was asked, beside its rows: which generation changed it last, and whether its rows
 * are those of a source or of the bundled samples. Runs of the live generation tell both.
 */
import type { Endpoint } from "@larder/schemas/endpoint.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"

export interface Provenance {
  /** Undefined where no run published the data set: then it is not loaded. */
  readonly generation: string | undefined
  /** `sample` where the data set holds rows of the bundled samples, most of which are generated. */
  readonly origin: "live" | "sample"
}
export type Provenances = Readonly<Record<Endpoint["tag"], Provenance>>

const pipelines = {
  Commodities: "commodities",
  "Branded foods": "branded-foods",
  Storefronts: "storefronts"
} as const satisfies Readonly<Record<Endpoint["tag"], string>>

const PublishedRuns = Schema.Struct({
  pipeline: Schema.String,
  generation: Schema.String,
  has_samples: Schema.Boolean
})

/** Ids of generations are not ordered as texts beyond the millionth. Replayed recordings count as live. */
const publishedRuns = `
  select pipeline,
    arg_max(generation, regexp_extract(generation, '\\d+')::bigint) as generation,
    bool_or(origin = 'sample' and rows_loaded > 0) as has_samples
  from ingest.run
  where generation is not null
  group by pipeline`

const isKnown = "select 1 from information_schema.tables where table_schema = 'ingest' and table_name = 'run'"

const notLoaded: Provenance = { generation: undefined, origin: "live" }
/** Of a warehouse without data sets. */
export const ofNone: Provenances = { Commodities: notLoaded, "Branded foods": notLoaded, Storefronts: notLoaded }

export const loadProvenances = Effect.fn("Provenance.load")(function* (db: DuckDb["Service"]) {
  const known = (yield* db.rows(isKnown)).length > 0
  const runs = known ? yield* db.all(PublishedRuns, publishedRuns) : []
  const of = (tag: Endpoint["tag"]): Provenance => {
    const run = runs.find(({ pipeline }) => pipeline === pipelines[tag])
    if (run === undefined) return notLoaded
    return { generation: run.generation, origin: run.has_samples ? "sample" : "live" }
  }
  return {
    Commodities: of("Commodities"),
    "Branded foods": of("Branded foods"),
    Storefronts: of("Storefronts")
  } satisfies Provenances as Provenances
})

/** `current` is the generation that answers. */
export const dataHeaders = ({ generation, origin }: Provenance, current: string): Readonly<Record<string, string>> => ({
  "x-data-version": generation ?? current,
  "x-data-origin": origin
})

/** For answers that belong to no single data set. */
export const ofAll = (provenances: Provenances): Provenance => ({
  generation: undefined,
  origin: Object.values(provenances).some(({ origin }) => origin === "sample") ? "sample" : "live"
})
