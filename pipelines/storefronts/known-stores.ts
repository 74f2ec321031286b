/** Reads the known stores and their listed products from the live generation. */
import { readFileSync } from "node:fs"
import { attachLiveData, type DuckDb, type Layout, readLive, readLiveDataSet, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../run/pipeline.ts"
import { fetchStatusOf, isOutcome } from "./source/crawl/outcome.ts"
import type { ListedStore } from "./source/store-list.ts"

const KnownStore = Schema.Struct({
  domain: Schema.String,
  kind: Schema.String,
  outcome: Schema.String,
  listed: Schema.Int,
  /** Products in its last read. */
  products_read: Schema.Int,
  /** When its last successful read took place, in milliseconds since 1970; null if there was none. */
  fetched_at: Schema.NullOr(Schema.Finite),
  /** Variants, plus products without variants. */
  items: Schema.Int,
  /** Without a price, or with a price of 0. */
  items_without_price: Schema.Int
})
export type KnownStore = typeof KnownStore.Type

const isFailed = ({ outcome }: KnownStore) => isOutcome(outcome) && fetchStatusOf(outcome) === "failed"

export type KnownStores = ReadonlyMap<string, KnownStore>

const noStores: KnownStores = new Map()

const knownStoresSql = readFileSync(new URL("./known-stores.sql", import.meta.url), "utf8")

export const readKnownStores = ({ layout }: RunContext) =>
  readLive(layout, storefront, noStores, (db) =>
    Effect.map(db.all(KnownStore, knownStoresSql), (rows): KnownStores => new Map(rows.map((row) => [row.domain, row])))
  )

/**
 * The order in which stores are read: those that failed last time come last, so that they delay no other store. Before
 * them, new stores and those that were not read for the longest time come first: a run may have no time for all.
 */
export const orderStores = (stores: ReadonlyArray<ListedStore>, known: KnownStores) => {
  const rank = ({ domain }: ListedStore) => {
    const last = known.get(domain)
    if (last === undefined) return 0
    return isFailed(last) ? Number.POSITIVE_INFINITY : (last.fetched_at ?? 0)
  }
  const ranks = new Map(stores.map((store) => [store, rank(store)]))
  const compare = (a: number, b: number) => (a === b ? 0 : a - b) // Infinity minus Infinity is NaN
  return stores.toSorted((a, b) => compare(ranks.get(a) ?? 0, ranks.get(b) ?? 0))
}

const copyKnownProducts = `
  insert into feed.known
  select domain, native_id
  from live_data.storefront.product
  join live_data.storefront.store using (store_id)
  where product_id in (select id from live_data.storefront.sighting where kind = 'product' and is_listed)
  order by domain`

const Id = Schema.Struct({ native_id: Schema.String })

/**
 * Returns a function that returns the native ids of a store's listed products. They are copied, because another
 * generation may be live by the time of the call.
 */
export const stageKnownProducts = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  layout: Layout,
  stores: KnownStores
) {
  yield* db.run("create table feed.known (domain varchar, native_id varchar)")
  const { file } = yield* readLiveDataSet(layout, storefront)
  if (stores.size > 0 && file !== undefined) {
    yield* Effect.scoped(Effect.andThen(attachLiveData(db, file), db.run(copyKnownProducts)))
  }
  return ({ domain, kind }: ListedStore) => {
    if (stores.get(domain)?.kind !== kind) return Effect.succeed<ReadonlySet<string>>(new Set())
    return Effect.map(
      db.all(Id, "select native_id from feed.known where domain = $domain", { domain }),
      (rows): ReadonlySet<string> => new Set(rows.map(({ native_id }) => native_id))
    )
  }
})
export type FindKnownProducts = Effect.Success<ReturnType<typeof stageKnownProducts>>
