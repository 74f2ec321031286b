/**
 * A probe reads a small part of each feed and checks it with the code of a run. It publishes nothing and writes nothing
 * into `LARDER_HOME`: its payloads are in a temporary folder that is removed with the scope.
 */
import { Effect, FileSystem } from "effect"
import { brandedFoods } from "../branded-foods/branded-foods.ts"
import { commodities } from "../commodities/commodities.ts"
import { Archive } from "../run/archive/archive.ts"
import type { LivePolicy } from "../run/origins/live.ts"
import { storefronts } from "../storefronts/storefronts.ts"
import type { ProbedZip } from "./branded-foods.ts"
import type { FeedVerdict } from "./verdict.ts"

/** A person waits for the result, so a probe tries only twice and does not wait for minutes. */
export const probePolicy: Partial<LivePolicy> = {
  maxAttempts: 2,
  initialBackoff: "1 second",
  maxBackoff: "2 seconds",
  maxWait: "30 seconds",
  maxTotalPause: "1 minute"
}

export const probeRunId = "probe"

export interface ProbedPipeline {
  readonly pipeline: string
  readonly verdicts: ReadonlyArray<FeedVerdict>
  readonly zips: ReadonlyArray<ProbedZip>
  /** Folder of the archive with everything that was fetched. */
  readonly folder: string
}

interface ProbeOptions {
  /** The file of `--stores`. */
  readonly stores?: string | undefined
  /** Whole histories of reports instead of a few weeks of each era. */
  readonly isFull?: boolean
}

/** The pipelines that can be probed. Each probe is loaded when it is called. */
export const probes = [
  {
    pipeline: commodities,
    probeFeeds: Effect.fnUntraced(function* ({ isFull = false }: ProbeOptions) {
      const { probeCommodities } = yield* Effect.promise(() => import("./commodities.ts"))
      return { verdicts: yield* probeCommodities(isFull), zips: [] }
    })
  },
  {
    pipeline: brandedFoods,
    probeFeeds: Effect.fnUntraced(function* () {
      const { probeBrandedFoods } = yield* Effect.promise(() => import("./branded-foods.ts"))
      return yield* probeBrandedFoods()
    })
  },
  {
    pipeline: storefronts,
    probeFeeds: Effect.fnUntraced(function* ({ stores }: ProbeOptions) {
      const { probeStorefronts } = yield* Effect.promise(() => import("./storefronts.ts"))
      return { verdicts: yield* probeStorefronts(stores), zips: [] }
    })
  }
]
export type Probe = (typeof probes)[number]

/** Probes one pipeline from the provided origin. */
export const runProbe = Effect.fnUntraced(function* ({ pipeline: { name }, probeFeeds }: Probe, options: ProbeOptions) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "larder-probe-" }))
  const { verdicts, zips } = yield* Effect.gen(function* () {
    return yield* probeFeeds(options)
  }).pipe(Effect.provide(Archive.layer({ folder, run_id: probeRunId, pipeline: name, days: null })))
  const probed: ProbedPipeline = { pipeline: name, verdicts, zips, folder }
  return probed
})
