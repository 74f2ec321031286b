/** Bundled samples are mostly made up, and never stand among what a source says. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import type { RunRecord } from "@larder/warehouse/generation/journal.ts"
import { Schema } from "effect"

const LoadedFrom = Schema.Struct({ origin: Schema.Literals(["live", "replay", "sample"]) })
export type LoadedFrom = typeof LoadedFrom.Type

/** Where the rows of a pipeline in this warehouse came from. */
export const originsOf = (db: DuckDb["Service"], pipeline: string) =>
  db.all(
    LoadedFrom,
    `select distinct origin from ingest.run
     where pipeline = $pipeline and generation is not null and rows_loaded > 0`,
    { pipeline }
  )

/** Why a run must not add to this warehouse; undefined where it may. What is replayed is the operator's own choice. */
export const mixtureOf = (
  origins: ReadonlyArray<LoadedFrom>,
  kind: RunRecord["origin"],
  what: string
): string | undefined => {
  const has = (origin: string) => origins.some((known) => known.origin === origin)
  if (kind === "live" && has("sample")) {
    return `This warehouse holds bundled samples, most of them generated; live ${what} are not mixed with them. Set LARDER_HOME to another folder, or remove the old one, and run again.`
  }
  if (kind === "sample" && has("live")) {
    return `This warehouse holds live ${what}; the bundled samples, most of them generated, are not mixed with them. Set LARDER_SOURCES=live to go on, or LARDER_HOME to another folder.`
  }
  return undefined
}
