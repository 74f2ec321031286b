/**
 * What of the newest generation cannot be served. It is tried again after a minute: what kept it from being opened may have passed.
 * The minute is measured by the time that passes, so that a clock that is set keeps nothing waiting.
 */
import { type Cause, Clock, Effect } from "effect"
import { generationId } from "../generation/manifest.ts"

/** A data set that cannot be served as the newest generation has it. */
export interface Fault {
  readonly pipeline: string
  /** The generation that changed it. */
  readonly of: number
  /** The generation of what is served instead; undefined where nothing is. */
  readonly stays: number | undefined
  /** Undefined where it was tried less than a minute ago. */
  readonly why: Cause.Cause<unknown> | undefined
}

export const textOf = ({ of, pipeline }: Pick<Fault, "of" | "pipeline">) =>
  `${pipeline} of ${generationId(of)} cannot be served`

const tryAgainAfter = 60_000_000_000n

export type Unserved = ReturnType<typeof makeUnserved>

export const makeUnserved = () => {
  const reported = new Map<string, { readonly of: number; readonly until: bigint }>()
  /** Whether this was reported less than a minute ago, as it is in this generation. */
  const isRecent = (what: string, of: number) =>
    Effect.map(Clock.monotonicTimeNanos, (now) => {
      const found = reported.get(what)
      return found !== undefined && found.of === of && now < found.until
    })
  /** Logs it, once a minute. */
  const report = Effect.fnUntraced(function* (what: string, of: number, log: Effect.Effect<void>) {
    if (yield* isRecent(what, of)) return
    reported.set(what, { of, until: (yield* Clock.monotonicTimeNanos) + tryAgainAfter })
    yield* log
  })
  const reportDataSet = (fault: Fault) => {
    const { of, pipeline, stays, why } = fault
    const instead = stays === undefined ? "nothing of it is served" : `${generationId(stays)} stays`
    return why === undefined ? Effect.void : report(pipeline, of, Effect.logError(`${textOf(fault)}; ${instead}`, why))
  }
  return { isRecent, report, reportDataSet }
}
