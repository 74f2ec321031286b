/**
 * What is found out before anything is fetched: settings and inputs that are wrong, a warehouse that the source must not be mixed
 * into, and what a run has to do without.
 */
import type { RunRecord } from "@larder/schemas/ingest.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { keptSetting } from "@larder/warehouse/generation/retention.ts"
import { Config, Effect, type FileSystem, Option, type Path, Runtime, Schema } from "effect"
import { liveSettings } from "./live-origin.ts"
import { mixtureIn } from "./mixture.ts"
import type { Pipeline } from "./pipeline.ts"

/** The command was called, or set up, in a way that cannot work. */
export class BadUse extends Schema.TaggedError<BadUse>()("BadUse", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.problem
  }
}

/** What stands in for the configured source: a folder of recorded payloads, a downloaded release, or a list of stores. */
export interface Given {
  readonly replay: Option.Option<string>
  readonly file: Option.Option<string>
  readonly stores: Option.Option<string>
}

const sourcesSetting = Config.schema(Schema.Literals(["sample", "live"]), "LARDER_SOURCES").pipe(
  Config.withDefault("sample" as const)
)

/** Where payloads come from: what is given, else what `LARDER_SOURCES` says. Stores that somebody names are no samples. */
export const sourceKind = ({ file, replay, stores }: Given): Effect.Effect<RunRecord["origin"], Config.ConfigError> => {
  if (Option.isSome(file) || Option.isSome(replay)) return Effect.succeed("replay")
  return Option.isSome(stores) ? Effect.succeed("live") : Effect.flatMap(sourcesSetting, Effect.succeed)
}

/** What a pipeline looks at. */
export interface Source {
  readonly kind: RunRecord["origin"]
  /** The file that was given with `--stores`. */
  readonly stores: string | undefined
}

export interface Preflight {
  /** What the run does without, and how to change that. */
  readonly lacks?: string
  /** Why there is nothing to read: a mistake of who asks for this pipeline by its name. */
  readonly nothing?: string
}

/** What the pipeline itself looks at. */
export type PipelinePreflight = (
  source: Source
) => Effect.Effect<Preflight, BadUse | Config.ConfigError, FileSystem.FileSystem | Path.Path>

/** Settings that every pipeline reads. Fails with what is wrong with them. */
export const checkSettings = (kind: RunRecord["origin"]) =>
  Effect.andThen(keptSetting, kind === "live" ? Effect.asVoid(liveSettings) : Effect.void)

/** What one pipeline needs. Fetches nothing, and leaves nothing on the disk. */
export const preflight = Effect.fn("Pipeline.preflight")(function* (
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
