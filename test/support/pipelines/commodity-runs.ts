/** Whole live runs of commodities, as the program makes them, on a machine that may have something wrong with itself. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { commodities, FeedsLeftOut, ingestFromOrigin } from "@larder/pipelines"
import type { FeedLeftOut } from "@larder/schemas"
import { Clock, ConfigProvider, Effect, Layer, Logger, Runtime } from "effect"
import type { FaultyRun } from "./commodity-faults.ts"
import { feedAt } from "./live-commodities.ts"
import { hostsMoved, unpaced } from "./live-runs.ts"

/** The machine's clock, so many milliseconds off. */
const clockOff = (ms: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(
      Clock.Clock,
      (clock): Clock.Clock => ({
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ms,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + ms),
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      })
    )
  )
const dayInMs = 86_400_000
const clockOf = (machine: FaultyRun["machine"]) => {
  if (machine === "is a day ahead") return clockOff(dayInMs)
  return machine === "is a day behind" ? clockOff(-dayInMs) : Layer.empty
}

export interface Ended {
  readonly exit: number
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** What a person reads: the error, or what was left out, or what was logged. */
  readonly told: string
}

type Told = Error & { readonly [Runtime.errorExitCode]?: number; readonly left_out?: Ended["left_out"] }
const ended = (error: Told): Ended => ({
  exit: error[Runtime.errorExitCode] ?? 1,
  left_out: error.left_out ?? [],
  told: error.message
})

interface Place {
  readonly home: string
  /** The server that answers. */
  readonly upstream: string
  /** A server whose certificate is not trusted. */
  readonly selfSigned: string
}

/** Two tries, and a second for the head of an answer where one is never sent. */
export const runCommodities = ({ home, selfSigned, upstream }: Place, { faults, machine }: FaultyRun) => {
  const logs: Array<string> = []
  const distrusted = machine === "distrusts the last feeds" ? (faults.at(-1)?.feeds ?? []) : []
  const toPath = ({ host, pathname, search }: URL) => {
    const path = `/${host}${pathname}${search}`
    return `${distrusted.includes(feedAt(path)) ? selfSigned : upstream}${path}`
  }
  const environment = machine === "has no key" ? {} : { MARS_API_KEY: "0123456789" }
  return ingestFromOrigin(commodities, { home, days: undefined, dryRun: false }).pipe(
    Effect.provide(
      hostsMoved(toPath, {
        ...unpaced,
        maxAttempts: 2,
        ...(faults.some(({ isSilent }) => isSilent) ? { responseTimeout: "1 second" } : {})
      })
    ),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
    Effect.provide([NodeServices.layer, Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))])]),
    Effect.provide(clockOf(machine)),
    Effect.match({
      onSuccess: ({ left_out }) =>
        left_out.length === 0
          ? { exit: 0, left_out, told: logs.join("\n") }
          : ended(
              new FeedsLeftOut({
                pipeline: "commodities",
                left_out,
                published: "the others were published",
                all_failed: false
              })
            ),
      onFailure: ended
    })
  )
}
