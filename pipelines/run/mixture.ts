/** Bundled samples are mostly made up, and never stand among what a source says. */
import type { RunRecord } from "@larder/warehouse/generation/journal.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { fromLive } from "@larder/warehouse/generation/previous.ts"
import { Effect, Schema } from "effect"
import type { Pipeline } from "./pipeline.ts"

const LoadedFrom = Schema.Struct({ origin: Schema.Literals(["live", "replay", "sample"]) })

/** Where the rows of a pipeline came from. */
const origins = `
  select distinct origin from ingest.run
  where pipeline = $pipeline and generation is not null and rows_loaded > 0`

/**
 * Why a run must not add to this warehouse; undefined where it may. What is replayed is the operator's own
 * choice, until it turns out to be bundled samples.
 */
export const mixtureIn = Effect.fnUntraced(function* (
  layout: Layout,
  { holds, name: pipeline }: Pick<Pipeline, "name" | "holds">,
  kind: RunRecord["origin"]
) {
  if (kind === "replay") return undefined
  const found = yield* fromLive(layout, { schema: "ingest", name: "run" }, [], (db) =>
    db.all(LoadedFrom, origins, { pipeline })
  )
  const has = (origin: string) => found.some((known) => known.origin === origin)
  if (kind === "live" && has("sample")) {
    return `This warehouse holds bundled samples, most of them generated; live ${holds} are not mixed with them. Set LARDER_HOME to another folder, or remove the old one, and run again.`
  }
  if (kind === "sample" && has("live")) {
    return `This warehouse holds live ${holds}; the bundled samples, most of them generated, are not mixed with them. Set LARDER_SOURCES=live to go on, or LARDER_HOME to another folder.`
  }
  return undefined
})
