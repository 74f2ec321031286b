/**
 * Reads what `ingest.freshness` says, the newest runs, and what is left out: once a minute, because data becomes late while
 * nothing happens, and for each new generation. Requests get the last result. A read takes about 10 ms of the event
 * loop; DuckDB's threads do the rest.
 */
import {
  type FreshnessRow,
  type Layout,
  type Live,
  type PipelineState,
  readFreshness,
  readPipelineStates,
  refreshOpened
} from "@larder/warehouse"
import { Clock, Duration, Effect, Schedule, Schema } from "effect"

const interval = Duration.minutes(1)
/** How soon a new generation is read. */
const pollInterval = Duration.seconds(1)
/** A read that takes longer fails: the disk does not respond. */
const maxReadTime = Duration.seconds(30)

const LeftOutFeed = Schema.Struct({ pipeline: Schema.String, feed: Schema.String })
/** A feed may be named twice: for a part that is missing, and because the last attempt failed. */
const selectLeftOut = "select distinct pipeline, feed from ingest.live_left_out"

export interface WarehouseState {
  /** When `freshness` was read, in UTC; undefined if that never succeeded. */
  readonly read_at: string | undefined
  /** All of `ingest.freshness`. */
  readonly freshness: ReadonlyArray<FreshnessRow>
  readonly pipelines: ReadonlyArray<PipelineState>
  /** Undefined until it was read. */
  readonly left_out: ReadonlyArray<typeof LeftOutFeed.Type> | undefined
  /** Why the last read failed: `freshness` is older. Undefined if it succeeded. */
  readonly fault: string | undefined
  /** Reads that failed since the start. */
  readonly failures: number
}

const readRuns = <Model>(live: Live<Model>) =>
  live.use(({ ingest }) =>
    Effect.all({ pipelines: readPipelineStates(ingest), left_out: ingest.all(LeftOutFeed, selectLeftOut) })
  )

const readJudged = Effect.fnUntraced(function* (layout: Layout) {
  const freshness = yield* readFreshness(layout)
  if (freshness === undefined) return yield* Effect.fail(new Error(`${layout.catalogue} is missing`))
  return { freshness, read_at: new Date(yield* Clock.currentTimeMillis).toISOString() }
})

/** Reads once, and then until the scope ends. A failure is logged when it begins; the last state stays. */
export const watchWarehouse = Effect.fn("watchWarehouse")(function* <Model>(layout: Layout, live: Live<Model>) {
  let state: WarehouseState = {
    read_at: undefined,
    freshness: [],
    pipelines: [],
    left_out: undefined,
    fault: undefined,
    failures: 0
  }
  let read = { generation: "", at: Number.NEGATIVE_INFINITY }
  const readOnce = Effect.gen(function* () {
    read = { generation: live.current().id, at: yield* Clock.currentTimeMillis }
    const runs = yield* readRuns(live) // first: alerts about runs do not depend on the view
    state = { ...state, ...runs }
    const judged = yield* readJudged(layout)
    state = { ...state, ...judged, fault: undefined }
  }).pipe(
    Effect.timeout(maxReadTime),
    Effect.catch((error) => {
      const isNew = state.fault !== error.message
      state = { ...state, fault: error.message, failures: state.failures + 1 }
      return isNew ? Effect.logWarning(`ingest.freshness could not be read: ${error.message}`) : Effect.void
    })
  )
  const isDue = Effect.map(
    Clock.currentTimeMillis,
    (now) => read.generation !== live.current().id || Math.abs(now - read.at) >= Duration.toMillis(interval)
  )
  /** A server sees a generation before its run has updated the files that people open, or if that run was killed. */
  const refresh = refreshOpened(layout, "server").pipe(
    Effect.catch(({ message }) => Effect.logDebug(`the files that people open may be older: ${message}`))
  )
  yield* readOnce
  const poll = Effect.flatMap(isDue, (due) => (due ? Effect.andThen(refresh, readOnce) : Effect.void))
  yield* Effect.forkScoped(Effect.repeat(poll, Schedule.spaced(pollInterval)))
  return { current: () => state }
})
