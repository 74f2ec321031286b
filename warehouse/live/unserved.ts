/**
 * Tracks which data sets and files of the newest generation cannot be served. Each is retried after a minute, because
 * its cause may have been removed. A monotonic clock measures the minute, so setting the system clock does not delay
 * the retry.
 */
import { type Cause, Clock, Effect } from "effect"
import { generationId } from "../generation/manifest.ts"

/** A data set that cannot be served as it is in the newest generation. */
export interface UnservedDataSet {
  readonly pipeline: string
  /** The generation that changed it. */
  readonly changed_in: number
  /** The generation that is served instead; undefined if none is. */
  readonly served: number | undefined
  /** What to do if another version of Larder published it, with other tables; undefined if this version did. */
  readonly otherVersion: string | undefined
  /** Undefined if the last attempt was less than a minute ago. */
  readonly cause: Cause.Cause<unknown> | undefined
}

const describe = ({ changed_in, pipeline }: UnservedDataSet) =>
  `${pipeline} of ${generationId(changed_in)} cannot be served`

/** For monitoring, which needs no sign-in: other causes name files, and are only logged. */
export const describeUnserved = (unserved: UnservedDataSet) =>
  unserved.otherVersion === undefined ? describe(unserved) : `${describe(unserved)} (${unserved.otherVersion})`

/** In nanoseconds. */
const retryInterval = 60_000_000_000n

export type Unserved = ReturnType<typeof makeUnserved>

export const makeUnserved = () => {
  const reported = new Map<string, { readonly generation: number; readonly until: bigint }>()
  /** Whether this was reported for this generation less than a minute ago. */
  const isRecent = (subject: string, generation: number) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => {
      const report = reported.get(subject)
      return report !== undefined && report.generation === generation && now < report.until
    })
  /** Logs a problem of a generation, at most once a minute for each subject. */
  const report = Effect.fnUntraced(function* (subject: string, generation: number, log: Effect.Effect<void>) {
    if (yield* isRecent(subject, generation)) return
    reported.set(subject, { generation, until: (yield* Clock.monotonicTimeNanos) + retryInterval })
    yield* log
  })
  const reportOnce = (subject: string, log: Effect.Effect<void>) =>
    Effect.suspend(() => {
      if (reported.has(subject)) return Effect.void
      reported.set(subject, { generation: 0, until: 0n })
      return log
    })
  const reportDataSet = (unserved: UnservedDataSet) => {
    const { cause, changed_in, pipeline, served } = unserved
    const instead = served === undefined ? "nothing is served instead" : `${generationId(served)} is still served`
    return cause === undefined
      ? Effect.void
      : report(pipeline, changed_in, Effect.logError(`${describe(unserved)}; ${instead}`, cause))
  }
  return { isRecent, report, reportOnce, reportDataSet }
}
