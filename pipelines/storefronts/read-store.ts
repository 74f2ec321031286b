/** Reads one store of the list. Its rows are staged as they arrive, and its outcome is returned at the end. */
import { rawFileTable, rejectTable, type Staging } from "@larder/warehouse"
import { Clock, Effect } from "effect"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { OddValueCounter } from "../run/odd-values.ts"
import { Progress } from "../run/progress.ts"
import { feedKinds } from "./feed-kinds.ts"
import type { FindKnownProducts } from "./known-stores.ts"
import { mappingHash } from "./mapping-hash.ts"
import { storePolicy } from "./source/crawl/policy.ts"
import { feedName, type ReadStore, type TakeRows } from "./source/crawl/store-read.ts"
import type { ListedStore } from "./source/store-list.ts"
import type { stageRows } from "./stage/stage-rows.ts"

const pipeline = "storefronts"

interface StoreReadContext {
  readonly run_id: string
  /** When the list was read. A read that fetched nothing gets this time, because it is the same in a repeated run. */
  readonly list_fetched_at: string
  readonly staging: Staging
  readonly rows: Effect.Success<ReturnType<typeof stageRows>>
  readonly findKnown: FindKnownProducts
}

export const readStore = Effect.fn("Storefronts.readStore")(function* (store: ListedStore, context: StoreReadContext) {
  const progress = yield* Progress
  const { list_fetched_at, rows, run_id, staging } = context
  const startedAt = yield* Clock.currentTimeMillis
  const feed = feedName(store)
  yield* progress.advance({ started: feed })
  const source = { pipeline, feed, run_id }
  const payloads = new Map<string, { readonly raw: FetchedPayload; rows_read: number; rows_rejected: number }>()
  const oddValues = new OddValueCounter()
  const take = Effect.fnUntraced(function* (batch: Parameters<TakeRows<never, never>>[0], raw: FetchedPayload) {
    const { fetched_at, sha256: raw_sha256, url } = raw
    const payload = payloads.get(url + raw_sha256) ?? { raw, rows_read: 0, rows_rejected: 0 }
    payloads.set(url + raw_sha256, payload)
    yield* rows.add(batch, { domain: store.domain, fetched_at, raw_sha256 })
    const count = batch.rows.length + batch.collections.length + batch.rejects.length
    payload.rows_read += count
    payload.rows_rejected += batch.rejects.length
    yield* staging.add(
      rejectTable,
      batch.rejects.map(({ payload, position, reason }) => ({ ...source, raw_sha256, position, reason, payload }))
    )
    for (const { field, said } of batch.odd_values) oddValues.add("unreadable", field, said)
    yield* progress.advance({ rows: count })
  })
  const read = yield* feedKinds[store.kind]
    .read(store, take, storePolicy, context.findKnown(store))
    .pipe(Effect.catchTag("Unread", Effect.die)) // each reader converts it into an outcome
  const fetched = [...payloads.values()]
  yield* staging.add(
    rawFileTable,
    fetched.map(({ raw: { bytes, content_type, fetched_at, sha256: raw_sha256, url }, ...counts }) => ({
      ...source,
      ...counts,
      raw_sha256,
      url,
      fetched_at,
      bytes,
      content_type,
      mapping_sha256: mappingHash
    }))
  )
  yield* progress.advance({ finished: feed })
  if (read.fetch_status !== "complete") {
    const { detail, fetch_status, outcome } = read
    const log = fetch_status === "failed" ? Effect.logDebug : Effect.logWarning // the end of the run names what failed
    yield* log(`the read of ${store.domain} was ${fetch_status}`).pipe(Effect.annotateLogs({ outcome, detail }))
  }
  if (read.currency_conflict !== null)
    yield* Effect.logWarning(`the currencies of ${store.domain} conflict: ${read.currency_conflict}`)
  const result: ReadStore = {
    store,
    read,
    rows_read: fetched.reduce((sum, { rows_read }) => sum + rows_read, 0),
    rows_rejected: fetched.reduce((sum, { rows_rejected }) => sum + rows_rejected, 0),
    read_at: fetched.reduce((last, { raw }) => (raw.fetched_at > last ? raw.fetched_at : last), list_fetched_at),
    seconds: ((yield* Clock.currentTimeMillis) - startedAt) / 1000,
    odd_values: oddValues.list()
  }
  return result
})
