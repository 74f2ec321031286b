/**
 * Decides which stores of the list a live run reads. `schedule.ts` says how long a store waits. It never waits if
 * it is new, if its entry in the list has changed, if an earlier version of the mapping read it, or if its feed is on
 * this machine. The waiting stores are archived with the run, so that a repeated run, with other settings and at
 * another time, leaves out the same stores.
 */
import { fromLive, storefront } from "@larder/warehouse"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { Origin } from "../../run/origins/origin.ts"
import { ReadFailed, type RunContext } from "../../run/pipeline.ts"
import { isOfNetwork, listAddress, waitingAddress } from "./operator-files.ts"
import { type Bounds, boundsSetting, dueAt, type LastRead, readLastReads, unusableBounds } from "./schedule.ts"
import { ListedStore, storesIn } from "./store-list.ts"

const Waiting = Schema.Array(Schema.Struct({ domain: Schema.String, due_at: Schema.String }))
type Waiting = typeof Waiting.Type
const decodeWaiting = Schema.decodeUnknownEffect(Schema.fromJsonString(Waiting))

const fields = Object.keys(ListedStore.fields) as ReadonlyArray<keyof ListedStore> // keys of a struct, which TypeScript widens

/** The stores as the list of an earlier run described them; empty if its archive is gone. */
const listedBy = Effect.fnUntraced(function* (run_id: string) {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const raw = yield* archive.earlier(run_id, listAddress)
  if (raw === undefined) return new Map<string, ListedStore>()
  const stores = yield* Effect.flatMap(fs.readFileString(raw.path), (text) => storesIn("stores.json", text)).pipe(
    Effect.orElseSucceed((): ReadonlyArray<ListedStore> => [])
  )
  return new Map(stores.map((store) => [store.domain, store]))
})

const isDescribedOtherwise = (store: ListedStore, before: ListedStore | undefined) =>
  before !== undefined && fields.some((field) => store[field] !== before[field])

/** A last read in the future comes from a clock that was ahead, and does not make a store wait. */
const isWaiting = (last: LastRead, due: number, now: number) => now < due && last.asked_at <= now

const waitingAmong = Effect.fnUntraced(function* (
  { acceptShrinkage }: RunContext,
  stores: ReadonlyArray<ListedStore>,
  lastReads: ReadonlyMap<string, LastRead>,
  bounds: Bounds,
  now: number
) {
  const early = stores.flatMap((store) => {
    const last = lastReads.get(store.domain)
    if (last === undefined || last.kind !== store.kind || !last.is_mapped || !isOfNetwork(store.location)) return []
    if (acceptShrinkage && last.fetch_status !== "complete") return [] // the operator may accept what the store lost
    const due = dueAt(last, bounds)
    return isWaiting(last, due, now) ? [{ store, due, run_id: last.run_id }] : []
  })
  const runs = [...new Set(early.map(({ run_id }) => run_id))]
  const lists = new Map(yield* Effect.forEach(runs, (run) => Effect.map(listedBy(run), (list) => [run, list] as const)))
  return early
    .filter(({ run_id, store }) => !isDescribedOtherwise(store, lists.get(run_id)?.get(store.domain)))
    .map(({ due, store }) => ({ domain: store.domain, due_at: new Date(due).toISOString() }))
})

/** Answers with the waiting stores instead of the network, so that they are archived like other inputs of the run. */
const saying = (waiting: Waiting) =>
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

/** The stores that this run left waiting, from its archive; none if the archive has no such payload. */
const archived = Effect.gen(function* () {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const { path } = yield* archive.fetch({ url: waitingAddress, accept: "application/json" })
  return yield* Effect.orDie(Effect.flatMap(fs.readFileString(path), decodeWaiting)) // the archive holds what was written below
}).pipe(
  Effect.catchTags({
    NotRecorded: () => Effect.succeed<Waiting>([]),
    RecordingUnreadable: (error) => Effect.fail(new ReadFailed({ faults: [error.message] }))
  })
)

const without = (stores: ReadonlyArray<ListedStore>, waiting: Waiting) => {
  const domains = new Set(waiting.map(({ domain }) => domain))
  return stores.filter(({ domain }) => !domains.has(domain))
}

interface Run extends RunContext {
  /** The hash of the current mapping. */
  readonly mapping: string
}

const decided = Effect.fnUntraced(function* (run: Run, stores: ReadonlyArray<ListedStore>, asked_at: string) {
  const archive = yield* Archive
  const bounds = yield* Effect.mapError(boundsSetting, () => new ReadFailed({ faults: [unusableBounds] }))
  const none: ReadonlyMap<string, LastRead> = new Map()
  const lastReads = yield* fromLive(run.layout, storefront, none, (db) => readLastReads(db, run.mapping))
  const waiting = yield* waitingAmong(run, stores, lastReads, bounds, Date.parse(asked_at))
  const fetchedBy = without(stores, waiting).flatMap(({ domain }) => lastReads.get(domain)?.fetched_by ?? [])
  yield* archive.revalidate(new Set(fetchedBy))
  return waiting.length === 0 ? waiting : yield* Effect.provideServiceEffect(archived, Origin, saying(waiting))
})

/** The stores that this run reads, in list order. Recordings and samples leave out only those archived as waiting. */
export const dueAmong = Effect.fn("Storefronts.dueAmong")(function* (
  run: Run,
  stores: ReadonlyArray<ListedStore>,
  asked_at: string
) {
  const { kind } = yield* Origin
  const waiting = yield* kind === "live" ? decided(run, stores, asked_at) : archived
  return without(stores, waiting)
})
