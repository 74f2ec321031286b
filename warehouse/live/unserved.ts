/**
 * Tracks which data sets and files of the newest generation cannot be served. Each is retried after a minute, because the
 * cause may be gone. The minute is measured with a monotonic clock, so setting the system clock does not delay the retry.
 */
import { type Cause, Clock, Effect } from "effect"
import { generationId } from "../generation/manifest.ts"

/** A data set that cannot be served as it is in the newest generation. */
export interface Fault {
  readonly pipeline: string
  /** The generation that changed it. */
  readonly of: number
  /** The generation that is served instead; undefined if none is. */
  readonly stays: number | undefined
  /** Undefined if the last attempt was less than a minute ago. */
  readonly why: Cause.Cause<unknown> | undefined
}

export const faultText = ({ of, pipeline }: Pick<Fault, "of" | "pipeline">) =>
  `${pipeline} of ${generationId(of)} cannot be served`

const tryAgainAfter = 60_000_000_000n

export type Unserved = ReturnType<typeof makeUnserved>

export const makeUnserved = () => {
  const reported = new Map<string, { readonly of: number; readonly until: bigint }>()
  /** Whether this was reported for this generation less than a minute ago. */
  const isRecent = (what: string, of: number) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => {
      const found = reported.get(what)
      return found !== undefined && found.of === of && now < found.until
    })
  /** Logs it, at most once a minute. */
  const report = Effect.fnUntraced(function* (what: string, of: number, log: Effect.Effect<void>) {
    if (yield* isRecent(what, of)) return
    reported.set(what, { of, until: (yield* Clock.monotonicTimeNanos) + tryAgainAfter })
    yield* log
  })
  const reportDataSet = (fault: Fault) => {
    const { of, pipeline, stays, why } = fault
    const instead = stays === undefined ? "nothing is served instead" : `${generationId(stays)} stays`
    return why === undefined
      ? Effect.void
      : report(pipeline, of, Effect.logError(`${faultText(fault)}; ${instead}`, why))
  }
  return { isRecent, report, reportDataSet }
}
