/**
 * Whole live runs in the test's own process: the real origin over real HTTP, archive, staging, publication and checks, with no
 * pause between two requests of a host. What the program adds (flags, output, exit codes) is tested with the program.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import {
  ingestFromOrigin,
  type LivePolicy,
  liveOrigin,
  Origin,
  type Pipeline,
  type ReadResult
} from "@larder/pipelines"
import type { RunRecord } from "@larder/schemas"
import { ConfigProvider, type Duration, Effect, Layer, Logger } from "effect"
import { withClockAhead } from "../clock-ahead.ts"
import type { Environment } from "../programs.ts"

/** Moves each upstream host to a path of the server at `base`, where `toPath` says which. */
export const hostsMoved = (toPath: (url: URL) => string, policy: Partial<LivePolicy>) =>
  Layer.effect(
    Origin,
    Effect.map(Origin, (live) =>
      Origin.of({
        ...live,
        open: (ask, resume) => {
          const url = toPath(new URL(ask.url))
          return Effect.map(live.open({ ...ask, url }, resume), (answer) =>
            answer.final_url === url ? { ...answer, final_url: ask.url } : answer
          )
        }
      })
    )
  ).pipe(Layer.provide(liveOrigin(policy)))

/** No pauses between requests, and short ones where a request is repeated. */
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
  /** The file of a list of stores, as given with `--stores`. */
  readonly stores?: string
  /** How much later than now it is for the run. */
  readonly ahead?: Duration.Input
  /** Where requests go; by default to the addresses themselves. */
  readonly origin?: ReturnType<typeof hostsMoved>
}

export interface EndedRun {
  /** Null where the run failed. */
  readonly run: RunRecord | null
  /** Why it failed, or which feeds could not be read. */
  readonly problem: string
  readonly logs: string
  /** Of a run of stores: how many its list has, and how many were not due. */
  readonly stores?: ReadResult["stores"] | undefined
}

export const ingestLive = (
  pipeline: Pipeline,
  { acceptShrinkage, ahead = 0, dryRun = false, environment = {}, home, origin, stores }: LiveRun
): Promise<EndedRun> => {
  const logs: Array<string> = []
  const keep = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const network = origin ?? liveOrigin({ ...pipeline.livePolicy, ...unpaced })
  return ingestFromOrigin(pipeline, { home, days: undefined, dryRun, stores, acceptShrinkage }).pipe(
    Effect.provide(network),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
    Effect.provide([NodeServices.layer, Logger.layer([keep])]),
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
