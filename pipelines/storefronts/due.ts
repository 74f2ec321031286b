/**
 * Which stores of the list a live run asks. A store waits where its rhythm says so; one that is new, that the list describes otherwise
 * than before, that an earlier version of the mapping read, or whose feed lies on this machine never does. What waits is archived
 * with the run, so that a run that is repeated, with other settings and at another time, leaves out the same stores.
 */
import { fromLive } from "@larder/warehouse/live/previous.ts"
import { storefront } from "@larder/warehouse/tables.ts"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { Archive } from "../run/archive.ts"
import { Origin } from "../run/origin.ts"
import { ReadFailed, type RunContext } from "../run/pipeline.ts"
import { isOfNetwork, listAddress, waitingAddress } from "./operator-files.ts"
import { type Bounds, boundsSetting, dueAt, type LastRead, readLastReads, unusableBounds } from "./rhythm.ts"
import { ListedStore, storesIn } from "./store-list.ts"

const Waiting = Schema.Array(Schema.Struct({ domain: Schema.String, due_at: Schema.String }))
type Waiting = typeof Waiting.Type
const decodeWaiting = Schema.decodeUnknownEffect(Schema.fromJsonString(Waiting))

const fields = Object.keys(ListedStore.fields) as ReadonlyArray<keyof ListedStore> // keys of a struct, which TypeScript widens

/** What the list of an earlier run said of its stores; nothing where its archive is gone. */
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

/** A clock that was ahead when the store was asked keeps it waiting no longer than one that was right. */
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
    if (acceptShrinkage && last.fetch_status !== "complete") return [] // what it has lost may be what is accepted
    const due = dueAt(last, bounds)
    return isWaiting(last, due, now) ? [{ store, due, run_id: last.run_id }] : []
  })
  const runs = [...new Set(early.map(({ run_id }) => run_id))]
  const lists = new Map(yield* Effect.forEach(runs, (run) => Effect.map(listedBy(run), (list) => [run, list] as const)))
  return early
    .filter(({ run_id, store }) => !isDescribedOtherwise(store, lists.get(run_id)?.get(store.domain)))
    .map(({ due, store }) => ({ domain: store.domain, due_at: new Date(due).toISOString() }))
})

/** In place of the network: says what is waiting, so that it is archived like all else that the run goes by. */
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

/** What the archive says that this run left waiting: nothing, where it has no such payload. */
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

const decided = Effect.fnUntraced(function* (run: RunContext, stores: ReadonlyArray<ListedStore>, asked_at: string) {
  const archive = yield* Archive
  const bounds = yield* Effect.mapError(boundsSetting, () => new ReadFailed({ faults: [unusableBounds] }))
  const none: ReadonlyMap<string, LastRead> = new Map()
  const lastReads = yield* fromLive(run.layout, storefront, none, readLastReads)
  const waiting = yield* waitingAmong(run, stores, lastReads, bounds, Date.parse(asked_at))
  const fetchedBy = without(stores, waiting).flatMap(({ domain }) => lastReads.get(domain)?.fetched_by ?? [])
  yield* archive.revalidate(new Set(fetchedBy))
  return waiting.length === 0 ? waiting : yield* Effect.provideServiceEffect(archived, Origin, saying(waiting))
})

/** The stores that this run asks, in the order of the list. Recordings and samples are read whole. */
export const dueAmong = Effect.fn("Storefronts.dueAmong")(function* (
  run: RunContext,
  stores: ReadonlyArray<ListedStore>,
  asked_at: string
) {
  const { kind } = yield* Origin
  const waiting = yield* kind === "live" ? decided(run, stores, asked_at) : archived
  return without(stores, waiting)
})
