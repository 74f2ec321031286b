/** One store, from its place in the list to its rows: what was read is staged at once, how it went is told at the end. */
import type { Staging } from "@larder/warehouse/staging.ts"
import { rawFileTable, rejectTable } from "@larder/warehouse/tables.ts"
import { Clock, Effect } from "effect"
import type { RawFile } from "../run/archive.ts"
import { Progress } from "../run/progress.ts"
import { readFeedFile } from "./crawl/file.ts"
import { type StorePolicy, storePolicy } from "./crawl/policy.ts"
import { type StoreRead, storeRead, type Take } from "./crawl/read.ts"
import { readShopify } from "./crawl/shopify.ts"
import { readWooCommerce } from "./crawl/woocommerce.ts"
import { mappingHash } from "./mapping.ts"
import type { stageRows } from "./stage.ts"
import type { ListedStore } from "./store-list.ts"

const pipeline = "storefronts"
export const feedOf = ({ domain }: ListedStore) => `store/${domain}`

interface Target {
  readonly run_id: string
  /** When the list was read, which a run that is repeated knows, too: the time of a read that got nothing. */
  readonly asked_at: string
  readonly staging: Staging
  readonly rows: Effect.Success<ReturnType<typeof stageRows>>
  /** Products that the live generation lists for the store, and the outcome of the read before. */
  readonly known: { readonly listed: number; readonly outcome: string } | undefined
}

/** What was read, and when. */
export interface Done {
  readonly store: ListedStore
  readonly read: StoreRead
  readonly rows_read: number
  readonly rows_rejected: number
  readonly read_at: string
  readonly seconds: number
}

const reading = <E, R>(store: ListedStore, take: Take<E, R>, policy: StorePolicy) => {
  switch (store.kind) {
    case "shopify":
      return readShopify(store, take, policy)
    case "woocommerce":
      return readWooCommerce(store, take, policy)
    case "shopify-csv":
    case "google-merchant":
      return readFeedFile(store, take, policy)
  }
}

/** A store that has lost most of its products at once was more likely read wrongly: it has to be found so twice. */
const orShrunk = (read: StoreRead, known: Target["known"]): StoreRead => {
  const isLess = known !== undefined && read.products_read * 2 < known.listed
  const isSaid = read.facts.reported_product_count === read.products_read
  if (read.outcome !== "complete" || !isLess || isSaid || known.outcome === "shrunk") return read
  return storeRead("shrunk", `there were ${known.listed} products, and ${read.products_read} were found`, read)
}

export const readStore = Effect.fn("Storefronts.readStore")(function* (store: ListedStore, target: Target) {
  const progress = yield* Progress
  const { asked_at, known, rows, run_id, staging } = target
  const began = yield* Clock.currentTimeMillis
  const feed = feedOf(store)
  const about = { pipeline, feed, run_id }
  const payloads = new Map<string, { readonly raw: RawFile; rows_read: number; rows_rejected: number }>()
  const take = Effect.fnUntraced(function* (batch: Parameters<Take<never, never>>[0], raw: RawFile) {
    const { fetched_at, sha256: raw_sha256, url } = raw
    const payload = payloads.get(url + raw_sha256) ?? { raw, rows_read: 0, rows_rejected: 0 }
    payloads.set(url + raw_sha256, payload)
    const count = batch.rows.length + batch.collections.length + batch.rejects.length
    payload.rows_read += count
    payload.rows_rejected += batch.rejects.length
    yield* rows.add(batch, { domain: store.domain, fetched_at, raw_sha256 })
    yield* staging.add(
      rejectTable,
      batch.rejects.map((reject) => ({ ...about, raw_sha256, ...reject }))
    )
    yield* progress.advance({ rows: count })
  })
  const read = orShrunk(yield* reading(store, take, storePolicy), known)
  const all = [...payloads.values()]
  yield* staging.add(
    rawFileTable,
    all.map(({ raw: { bytes, content_type, fetched_at, sha256: raw_sha256, url }, ...counts }) => ({
      ...about,
      ...counts,
      raw_sha256,
      url,
      fetched_at,
      bytes,
      content_type,
      mapping_sha256: mappingHash
    }))
  )
  yield* progress.advance({ feed })
  if (read.fetch_status !== "complete") {
    const { detail, fetch_status, outcome } = read
    yield* Effect.logWarning(`the read of ${store.domain} was ${fetch_status}`).pipe(
      Effect.annotateLogs({ outcome, detail })
    )
  }
  return {
    store,
    read,
    rows_read: all.reduce((sum, { rows_read }) => sum + rows_read, 0),
    rows_rejected: all.reduce((sum, { rows_rejected }) => sum + rows_rejected, 0),
    read_at: all.reduce((last, { raw }) => (raw.fetched_at > last ? raw.fetched_at : last), asked_at),
    seconds: ((yield* Clock.currentTimeMillis) - began) / 1000
  } satisfies Done as Done
})
