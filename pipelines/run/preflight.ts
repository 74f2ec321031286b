/**
 * Checks before anything is fetched: invalid settings and inputs, a warehouse that the source must not be mixed into,
 * and what a run has to do without.
 */
import type { RunRecord } from "@larder/schemas"
import { keptSetting, type Layout } from "@larder/warehouse"
import { Config, Effect, type FileSystem, Option, type Path, Runtime, Schema } from "effect"
import { mixtureIn } from "./bundled.ts"
import { liveSettings } from "./origins/live.ts"
import type { Pipeline } from "./pipeline.ts"

/** The command was called or configured in a way that cannot work. */
export class BadUse extends Schema.TaggedError<BadUse>()("BadUse", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.problem
  }
}

/** Replaces the configured source: a folder of recorded payloads, a downloaded release, or a list of stores. */
export interface Given {
  readonly replay: Option.Option<string>
  readonly file: Option.Option<string>
  readonly stores: Option.Option<string>
}

const sourcesSetting = Config.schema(Schema.Literals(["sample", "live"]), "LARDER_SOURCES").pipe(
  Config.withDefault("sample" as const)
)

/** Where payloads come from: what is given, or else `LARDER_SOURCES`. Stores that the operator names are no samples. */
export const sourceKind = ({ file, replay, stores }: Given): Effect.Effect<RunRecord["origin"], Config.ConfigError> => {
  if (Option.isSome(file) || Option.isSome(replay)) return Effect.succeed("replay")
  return Option.isSome(stores) ? Effect.succeed("live") : Effect.flatMap(sourcesSetting, Effect.succeed)
}

/** The source that a pipeline checks. */
export interface Source {
  readonly kind: RunRecord["origin"]
  /** The file that was given with `--stores`. */
  readonly stores: string | undefined
}

interface Preflight {
  /** What the run has to do without, and how to change that. */
  readonly lacks?: string
  /** Why there is nothing to read: an error if this pipeline was requested by name. */
  readonly nothing?: string
}

/** The checks of the pipeline itself. */
export type PipelinePreflight = (
  source: Source
) => Effect.Effect<Preflight, BadUse | Config.ConfigError, FileSystem.FileSystem | Path.Path>

/** Checks the settings that every pipeline reads. Fails with a description of an invalid one. */
export const checkSettings = (kind: RunRecord["origin"]) =>
  Effect.andThen(keptSetting, kind === "live" ? Effect.asVoid(liveSettings) : Effect.void)

/** Checks what one pipeline needs. Fetches nothing, and leaves nothing on disk. */
export const checkPipeline = Effect.fn("Pipeline.preflight")(function* (
  pipeline: Pipeline,
  layout: Layout,
  source: Source
) {
  const found: Preflight = pipeline.preflight === undefined ? {} : yield* pipeline.preflight(source)
  if (found.nothing !== undefined) return found
  const mixture = yield* mixtureIn(layout, pipeline, source.kind)
  if (mixture !== undefined) return yield* new BadUse({ problem: mixture })
  return found
})
