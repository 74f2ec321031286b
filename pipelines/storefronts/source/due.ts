/**
 * Decides which stores of the list a live run reads. `schedule.ts` computes how long a store waits. A store does not
 * wait if it is new, if its entry in the list changed, if an earlier version of the mapping read it, or if its feed is
 * on this machine. The waiting stores are archived with the run, so that a repeated run skips the same stores, even
 * with other settings.
 */
import { readLive, storefront } from "@larder/warehouse"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { Origin } from "../../run/origins/origin.ts"
import { ReadFailed, type RunContext } from "../../run/pipeline.ts"
import { isWebAddress, listAddress, waitingAddress } from "./operator-files.ts"
import { computeDueTime, type IntervalLimits, type LastRead, readIntervals, readLastReads } from "./schedule.ts"
import { ListedStore, parseStoreList } from "./store-list.ts"

const Waiting = Schema.Array(Schema.Struct({ domain: Schema.String, due_at: Schema.String }))
type Waiting = typeof Waiting.Type
const decodeWaiting = Schema.decodeUnknownEffect(Schema.fromJsonString(Waiting))

const fields = Object.keys(ListedStore.fields) as ReadonlyArray<keyof ListedStore> // keys of a struct, which TypeScript widens

/** The store list of an earlier run; empty if it is no longer in the archive. */
const readEarlierList = Effect.fnUntraced(function* (run_id: string) {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const raw = yield* archive.findEarlier(run_id, listAddress)
  if (raw === undefined) return new Map<string, ListedStore>()
  const stores = yield* Effect.flatMap(fs.readFileString(raw.path), (text) => parseStoreList("stores.json", text)).pipe(
    Effect.orElseSucceed((): ReadonlyArray<ListedStore> => [])
  )
  return new Map(stores.map((store) => [store.domain, store]))
})

const isChanged = (store: ListedStore, before: ListedStore | undefined) =>
  before !== undefined && fields.some((field) => store[field] !== before[field])

const findWaiting = Effect.fnUntraced(function* (
  { acceptShrinkage }: RunContext,
  stores: ReadonlyArray<ListedStore>,
  lastReads: ReadonlyMap<string, LastRead>,
  limits: IntervalLimits,
  now: number
) {
  const notDue = stores.flatMap((store) => {
    const last = lastReads.get(store.domain)
    if (last === undefined || last.kind !== store.kind || !last.has_current_mapping || !isWebAddress(store.location))
      return []
    if (acceptShrinkage && last.fetch_status !== "complete") return [] // so that the operator can accept a loss
    const due = computeDueTime(last, limits)
    // a last read in the future comes from a clock that was ahead, and does not make a store wait
    return now < due && last.run_started_at <= now ? [{ store, due, run_id: last.run_id }] : []
  })
  const runs = [...new Set(notDue.map(({ run_id }) => run_id))]
  const lists = new Map(
    yield* Effect.forEach(runs, (run) => Effect.map(readEarlierList(run), (list) => [run, list] as const))
  )
  return notDue
    .filter(({ run_id, store }) => !isChanged(store, lists.get(run_id)?.get(store.domain)))
    .map(({ due, store }) => ({ domain: store.domain, due_at: new Date(due).toISOString() }))
})

/** An origin that returns the waiting stores, so that they are archived like other inputs of the run. */
const makeWaitingOrigin = (waiting: Waiting) =>
  Effect.map(Origin, (origin) =>
    Origin.of({
      ...origin,
      open: ({ url }) =>
        Effect.succeed({
          status: 200,
          final_url: url,
          content_type: "application/json",
          etag: null,
          last_modified: null,
          exact: true,
          from: 0,
          total: null,
          body: Stream.succeed(Buffer.from(JSON.stringify(waiting)))
        })
    })
  )

/** The waiting stores of this run, from its archive; none if the archive has no such payload. */
const readWaiting = Effect.gen(function* () {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const { path } = yield* archive.fetch({ url: waitingAddress, accept: "application/json" })
  return yield* Effect.orDie(Effect.flatMap(fs.readFileString(path), decodeWaiting)) // written below
}).pipe(
  Effect.catchTags({
    NotRecorded: () => Effect.succeed<Waiting>([]),
    RecordingUnreadable: (error) => Effect.fail(new ReadFailed({ faults: [error.message] }))
  })
)

const excludeWaiting = (stores: ReadonlyArray<ListedStore>, waiting: Waiting) => {
  const domains = new Set(waiting.map(({ domain }) => domain))
  return stores.filter(({ domain }) => !domains.has(domain))
}

interface MappingRun extends RunContext {
  readonly mapping: string
}

const decideWaiting = Effect.fnUntraced(function* (
  run: MappingRun,
  stores: ReadonlyArray<ListedStore>,
  list_fetched_at: string
) {
  const archive = yield* Archive
  const limits = yield* readIntervals
  const noReads: ReadonlyMap<string, LastRead> = new Map()
  const lastReads = yield* readLive(run.layout, storefront, noReads, (db) => readLastReads(db, run.mapping))
  const waiting = yield* findWaiting(run, stores, lastReads, limits, Date.parse(list_fetched_at))
  const lastRunIds = excludeWaiting(stores, waiting).flatMap(
    ({ domain }) => lastReads.get(domain)?.last_successful_run_id ?? []
  )
  yield* archive.revalidate(new Set(lastRunIds))
  return waiting.length === 0
    ? waiting
    : yield* Effect.provideServiceEffect(readWaiting, Origin, makeWaitingOrigin(waiting))
})

/** The stores that this run reads, in list order. Recordings and samples skip only stores archived as waiting. */
export const pickDueStores = Effect.fn("Storefronts.pickDueStores")(function* (
  run: MappingRun,
  stores: ReadonlyArray<ListedStore>,
  list_fetched_at: string
) {
  const { kind } = yield* Origin
  const waiting = yield* kind === "live" ? decideWaiting(run, stores, list_fetched_at) : readWaiting
  return excludeWaiting(stores, waiting)
})
