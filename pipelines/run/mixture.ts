/** Bundled samples are mostly generated, and are never mixed with data from a source. */
import type { RunRecord } from "@larder/schemas/ingest.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { newestManifest } from "@larder/warehouse/generation/manifest.ts"
import { Effect, Option } from "effect"
import type { Pipeline } from "./pipeline.ts"

/**
 * Why a run must not add to this warehouse; undefined if it may. A replay is the operator's own choice, unless its
 * payloads turn out to be bundled samples.
 */
export const mixtureIn = Effect.fnUntraced(function* (
  layout: Layout,
  { holds, name: pipeline }: Pick<Pipeline, "name" | "holds">,
  kind: RunRecord["origin"]
) {
  if (kind === "replay") return undefined
  const live = Option.getOrUndefined(yield* newestManifest(layout.local))?.data_sets[pipeline]
  const has = (origin: RunRecord["origin"]) => live?.origins.includes(origin) === true
  if (kind === "live" && has("sample")) {
    return `This warehouse holds bundled samples, most of them generated; live ${holds} are not mixed with them. Set LARDER_HOME to another folder, or remove the old one, and run again.`
  }
  if (kind === "sample" && has("live")) {
    return `This warehouse holds live ${holds}; the bundled samples, most of them generated, are not mixed with them. Set LARDER_SOURCES=live to go on, or LARDER_HOME to another folder.`
  }
  return undefined
})
