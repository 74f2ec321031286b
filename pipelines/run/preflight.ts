/** Checks before anything is fetched: settings, inputs, and whether the source may be mixed into this warehouse. */
import { type RunRecord, settingOf } from "@larder/schemas"
import { keptSetting, type Layout } from "@larder/warehouse"
import { type Config, Effect, Option, Schema } from "effect"
import { findMixture } from "./bundled.ts"
import { liveSettings } from "./origins/live.ts"
import type { Pipeline, Preflight, RunSource } from "./pipeline.ts"
import { UsageError } from "./usage-error.ts"

/** Flags that replace the configured source by recorded payloads, a downloaded release, or a list of stores. */
export interface SourceOptions {
  readonly replay: Option.Option<string>
  readonly file: Option.Option<string>
  readonly stores: Option.Option<string>
}

const sourcesSetting = settingOf("LARDER_SOURCES", Schema.Literals(["sample", "live"]))

/** `LARDER_SOURCES` applies unless a flag names the source. Stores that the operator names are not samples. */
export const sourceKind = ({
  file,
  replay,
  stores
}: SourceOptions): Effect.Effect<RunRecord["origin"], Config.ConfigError> => {
  if (Option.isSome(file) || Option.isSome(replay)) return Effect.succeed("replay")
  return Option.isSome(stores) ? Effect.succeed("live") : sourcesSetting
}

export const checkSettings = (kind: RunRecord["origin"]) =>
  Effect.andThen(keptSetting, kind === "live" ? Effect.asVoid(liveSettings) : Effect.void)

/** Checks what one pipeline needs. Fetches nothing, and leaves nothing on disk. */
export const checkPipeline = Effect.fn("Pipeline.preflight")(function* (
  pipeline: Pipeline,
  layout: Layout,
  source: RunSource
) {
  const result: Preflight = pipeline.preflight === undefined ? {} : yield* pipeline.preflight(source)
  if (result.nothingToRead !== undefined) return result
  const mixture = yield* findMixture(layout, pipeline, source.kind)
  return mixture === undefined ? result : yield* new UsageError({ problem: mixture })
})
