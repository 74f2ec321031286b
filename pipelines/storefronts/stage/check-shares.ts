/**
 * Counts the products of each read that were rejected; a product counts once, however many of its rows were. A store that lost too many is
 * left out in part. If a rejected row does not tell which product or collection it is, nothing is withdrawn.
 */
import { literal, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import { describeShare, isLeftOutInPart, isUnknownReject, reasonKindSql, stageKnownRejects } from "../../run/shares.ts"
import { isAccepted } from "../source/crawl/outcome.ts"
import { feedName, makeStoreRead, type ReadStore } from "../source/crawl/store-read.ts"

const StoreShare = Schema.Struct({
  domain: Schema.String,
  read: Schema.Int,
  rejected: Schema.Int,
  /** Rejected rows of products, and of collections, that do not tell which one. */
  unnamed_products: Schema.Int,
  unnamed_collections: Schema.Int
})
type StoreShare = typeof StoreShare.Type

/** Rejected rows of products and collections. A row without an id counts as one product. */
const rejectedRows = `
  select domain, kind, coalesce(native_id, raw_sha256 || ' ' || position) as id, native_id is null as is_unnamed, raw_sha256, position
  from feed.rejected
  union all
  select domain, 'product', product_native_id, false, raw_sha256, position
  from feed.variant semi join feed.duplicate_variant using (seq)`

const storeShares = `
  with row as (${rejectedRows}),
  product as (
    select domain, native_id as id, false as is_rejected from feed.first_product where is_published
    union all
    select domain, id, true from row where kind = 'product'
  ),
  share as (
    select domain, count(distinct id)::integer as read, (count(distinct id) filter (is_rejected))::integer as rejected
    from product group by domain
  ),
  unnamed as (
    select domain, (count(*) filter (kind = 'product'))::integer as unnamed_products,
      (count(*) filter (kind = 'collection'))::integer as unnamed_collections
    from row where is_unnamed group by domain
  )
  select domain, coalesce(read, 0) as read, coalesce(rejected, 0) as rejected,
    coalesce(unnamed_products, 0) as unnamed_products, coalesce(unnamed_collections, 0) as unnamed_collections
  from share full join unnamed using (domain)`

const RejectTexts = Schema.Struct({
  domain: Schema.String,
  /** Rejected products that no earlier run recorded with the same text. */
  unknown: Schema.Int,
  has_unknown_unnamed: Schema.Boolean,
  reason: Schema.String
})

/** What the rejects of these stores say. Needs the table of known rejects. */
const selectRejectTexts = (domains: ReadonlyArray<string>) => `
  with row as (${rejectedRows}),
  reject as (
    select domain, kind, id, is_unnamed, reason, ${reasonKindSql("reason")} as reason_kind, ${isUnknownReject} as is_unknown,
      -- a product whose row with the title was rejected has no row with a title
      starts_with(reason, 'no row of product ') and count(*) over (partition by domain, kind, id) > 1 as is_consequence
    from row
    join ingest.reject reject
      on reject.feed = 'store/' || domain and reject.raw_sha256 = row.raw_sha256 and reject.position = row.position
    where domain in (${domains.map(literal).join(", ")})
  ),
  commonest as (
    select domain, arg_max(example, (products, example)) as reason
    from (
      select domain, min(reason) as example, count(distinct id) as products
      from reject where (kind = 'product' or is_unnamed) and not is_consequence group by domain, reason_kind
    )
    group by domain
  )
  select domain, any_value(commonest.reason) as reason,
    (count(distinct id) filter (kind = 'product' and is_unknown))::integer as unknown,
    bool_or(is_unnamed and is_unknown) as has_unknown_unnamed
  from reject join commonest using (domain) group by domain`

const countUnnamed = ({ unnamed_collections, unnamed_products }: StoreShare) => unnamed_products + unnamed_collections
const isNamed = (share: StoreShare) => isLeftOutInPart(share) || countUnnamed(share) > 0

const readTexts = Effect.fnUntraced(function* (run: RunContext, stores: ReadonlyArray<ReadStore>) {
  if (stores.length === 0) return []
  yield* stageKnownRejects(
    run,
    storefront,
    stores.map(({ store }) => feedName(store))
  )
  return yield* run.staging.db.all(RejectTexts, selectRejectTexts(stores.map(({ store }) => store.domain)))
})

const adjustRead = (item: ReadStore, share: StoreShare, texts: typeof RejectTexts.Type): ReadStore => {
  const { read } = item
  const unnamed = countUnnamed(share)
  const withdrawal = { ...read, has_all_products: read.has_all_products && share.unnamed_products === 0 }
  const isPartial = isLeftOutInPart(share)
  const sentence = describeShare(share, "products", texts.reason)
  if (read.outcome !== "complete") {
    const detail = isPartial ? `${read.detail ?? ""} ${sentence}.`.trim() : read.detail
    return { ...item, read: { ...withdrawal, detail } }
  }
  const is_known = texts.unknown === 0 && !texts.has_unknown_unnamed
  if (unnamed === 0) return { ...item, is_known, read: makeStoreRead("rejected", sentence, withdrawal) }
  const detail = unnamed === 1 ? "there is 1 such row" : `there are ${unnamed} such rows`
  const unclear = makeStoreRead("unclear", isPartial ? `${detail}; ${sentence}` : detail, withdrawal)
  return { ...item, is_known, read: unclear }
}

/** Needs the separated rows of all accepted reads. */
export const checkShares = Effect.fnUntraced(function* (run: RunContext, reads: ReadonlyArray<ReadStore>) {
  const shares = new Map((yield* run.staging.db.all(StoreShare, storeShares)).map((row) => [row.domain, row]))
  const named = reads.filter(({ read, store }) => {
    const share = shares.get(store.domain)
    return isAccepted(read) && share !== undefined && isNamed(share)
  })
  const texts = new Map((yield* readTexts(run, named)).map((row) => [row.domain, row]))
  return reads.map((item): ReadStore => {
    const [share, said] = [shares.get(item.store.domain), texts.get(item.store.domain)]
    return share === undefined || said === undefined ? item : adjustRead(item, share, said)
  })
})
