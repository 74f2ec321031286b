/** Whole live runs of commodities, as in the program, on a machine that may itself have a fault. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { FeedsLeftOut, ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import type { FeedLeftOut } from "@larder/schemas"
import { Clock, ConfigProvider, Effect, Layer, Logger, Runtime } from "effect"
import type { FaultyRun } from "./commodity-faults.ts"
import { feedAt } from "./live-commodities.ts"
import { redirectHosts, unpaced } from "./live-runs.ts"

/** Shifts the milliseconds of the machine's clock, which is all that these tests read. */
const shiftClock = (ms: number) =>
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
const selectClock = (machine: FaultyRun["machine"]) => {
  if (machine === "is a day ahead") return shiftClock(dayInMs)
  return machine === "is a day behind" ? shiftClock(-dayInMs) : Layer.empty
}

export interface RunEnd {
  readonly exit: number
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** The error, the reasons for left-out feeds, or the logs. */
  readonly output: string
}

type RunError = Error & { readonly [Runtime.errorExitCode]?: number; readonly left_out?: RunEnd["left_out"] }
const describeError = (error: RunError): RunEnd => ({
  exit: error[Runtime.errorExitCode] ?? 1,
  left_out: error.left_out ?? [],
  output: error.message
})

interface Setup {
  readonly home: string
  /** The server of all other feeds. */
  readonly upstream: string
  /** A server whose certificate is not trusted. */
  readonly selfSigned: string
}

/** Two tries; the response timeout is one second if a feed never responds. */
export const runCommodities = ({ home, selfSigned, upstream }: Setup, { faults, machine }: FaultyRun) => {
  const logs: Array<string> = []
  const distrusted = machine === "distrusts the last feeds" ? (faults.at(-1)?.feeds ?? []) : []
  const toAddress = ({ host, pathname, search }: URL) => {
    const path = `/${host}${pathname}${search}`
    return `${distrusted.includes(feedAt(path)) ? selfSigned : upstream}${path}`
  }
  const environment = machine === "has no key" ? {} : { MARS_API_KEY: "0123456789" }
  return ingestFromOrigin(commodities, { home, days: undefined, dryRun: false }).pipe(
    Effect.provide(
      redirectHosts(toAddress, {
        ...unpaced,
        maxAttempts: 2,
        ...(faults.some(({ isSilent }) => isSilent) ? { responseTimeout: "1 second" } : {})
      })
    ),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
    Effect.provide([NodeServices.layer, Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))])]),
    Effect.provide(selectClock(machine)),
    Effect.match({
      onSuccess: ({ left_out }) =>
        left_out.length === 0
          ? { exit: 0, left_out, output: logs.join("\n") }
          : describeError(
              new FeedsLeftOut({
                pipeline: "commodities",
                left_out,
                published: "the others were published",
                all_failed: false
              })
            ),
      onFailure: describeError
    })
  )
}
