/**
 * Whole live runs in the process of the test: the real origin over real HTTP, archive, staging, publication and checks,
 * without pauses between the requests to a host. Tests of the program cover flags, output and exit codes.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { type LivePolicy, liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { Origin } from "@larder/pipelines/run/origins/origin.ts"
import type { Pipeline, ReadResult } from "@larder/pipelines/run/pipeline.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import type { RunRecord } from "@larder/schemas"
import { sharedDepotFromSettings } from "@larder/warehouse/depot/shared.ts"
import { ConfigProvider, type Duration, Effect, Layer, Logger } from "effect"
import { withClockAhead } from "../clock-ahead.ts"
import type { Environment } from "../programs.ts"

/** A live origin that sends each request to the address that `toAddress` returns. */
export const redirectHosts = (toAddress: (url: URL) => string, policy: Partial<LivePolicy>) =>
  Layer.effect(
    Origin,
    Effect.map(Origin, (live) =>
      Origin.of({
        ...live,
        open: (request, resume) => {
          const url = toAddress(new URL(request.url))
          return Effect.map(live.open({ ...request, url }, resume), (response) =>
            response.final_url === url ? { ...response, final_url: request.url } : response
          )
        }
      })
    )
  ).pipe(Layer.provide(liveOrigin(policy)))

/** No pauses between requests, and short ones before retries. */
export const unpaced = {
  interval: 0,
  throttledInterval: 0,
  initialPause: "1 millis",
  initialBackoff: "1 millis",
  maxBackoff: "2 millis"
} as const

interface LiveRun {
  readonly home: string
  readonly environment?: Environment
  readonly dryRun?: boolean
  readonly acceptShrinkage?: boolean
  /** The store list of `--stores`. */
  readonly stores?: string
  /** How far the clock of the run is ahead. */
  readonly ahead?: Duration.Input
  /** By default, requests go to the addresses themselves. */
  readonly origin?: ReturnType<typeof redirectHosts>
}

export interface EndedRun {
  /** Null if the run failed. */
  readonly run: RunRecord | null
  /** Why it failed, or which feeds could not be read. */
  readonly problem: string
  readonly logs: string
  /** For stores: how many the list has, and how many were not due. */
  readonly stores?: ReadResult["stores"] | undefined
}

export const ingestLive = (
  pipeline: Pipeline,
  { acceptShrinkage, ahead = 0, dryRun = false, environment = {}, home, origin, stores }: LiveRun
): Promise<EndedRun> => {
  const logs: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const network = origin ?? liveOrigin({ ...pipeline.livePolicy, ...unpaced })
  return ingestFromOrigin(pipeline, { home, days: undefined, dryRun, stores, acceptShrinkage }).pipe(
    Effect.provide(network),
    Effect.provide(sharedDepotFromSettings),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
    Effect.provide([NodeServices.layer, Logger.layer([logger])]),
    Effect.match({
      onSuccess: ({ left_out, run, stores }) => ({
        run,
        stores,
        problem: left_out.map(({ feed, reason }) => `${feed}: ${reason}`).join("\n")
      }),
      onFailure: (error) => ({ run: null, problem: error.message })
    }),
    Effect.map((ended) => ({ ...ended, logs: logs.join("\n") })),
    withClockAhead(ahead),
    Effect.runPromise
  )
}
