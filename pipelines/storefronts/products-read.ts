/** What was found of each store: its products, since a file has several rows for some and rows of drafts, and their prices. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { type StoreRead, storeRead } from "./crawl/read.ts"
import type { KnownStore } from "./previous.ts"
import type { Done } from "./read-store.ts"

const Found = Schema.Struct({
  domain: Schema.String,
  products: Schema.Int,
  variants: Schema.Int,
  /** 0 is no price where another variant of the product has one. */
  unpriced: Schema.Int
})
type Found = typeof Found.Type

const found = `
  with stated as (
    select domain, native_id, arg_min(is_published, seq) as is_published from feed.product group by all
  ),
  priced as (
    select domain, product_native_id as native_id, count(*) as variants,
      count(*) filter (where price is null) + if(max(price) > 0, count(*) filter (where price = 0), 0) as unpriced
    from feed.variant group by all
  )
  select domain, count(*)::integer as products, coalesce(sum(variants), 0)::integer as variants,
    coalesce(sum(unpriced), 0)::integer as unpriced
  from stated left join priced using (domain, native_id)
  where is_published
  group by domain`

/** The share of missing prices may rise by so much between two reads. */
const mostMissing = 0.1

const shareOf = ({ unpriced, variants }: Pick<Found, "unpriced" | "variants">) =>
  variants === 0 ? 0 : unpriced / variants
const inPercent = (share: number) => `${(share * 100).toFixed(1)} %`

/** Prices that vanish together are more likely stated in another way than withdrawn. */
const orUnpriced = (read: StoreRead, now: Found | undefined, known: KnownStore | undefined): StoreRead => {
  if (read.fetch_status === "failed" || now === undefined || known === undefined || known.variants === 0) return read
  const [before, missing] = [shareOf(known), shareOf(now)]
  if (missing - before <= mostMissing) return read
  const detail = `${now.unpriced} of ${now.variants} prices are missing, ${inPercent(missing)} instead of ${inPercent(before)}`
  return storeRead("unpriced", detail, { ...read, has_all_products: false })
}

/** A store that has lost most of its products at once was more likely read wrongly: it has to be found so twice. */
const orShrunk = (read: StoreRead, known: KnownStore | undefined): StoreRead => {
  if (known === undefined || !read.has_all_products || read.products_read * 2 >= known.listed) return read
  const isSaid = read.facts.reported_product_count === read.products_read
  const isConfirmed = known.outcome === "shrunk" && read.products_read * 2 >= known.found
  if (isSaid || isConfirmed) return read
  const detail = `there were ${known.listed} products, and ${read.products_read} were found`
  return storeRead("shrunk", detail, { ...read, has_all_products: false })
}

export const withProductsRead = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  done: ReadonlyArray<Done>,
  known: ReadonlyMap<string, KnownStore>
) {
  const stores = new Map((yield* db.all(Found, found)).map((row) => [row.domain, row]))
  return done.map((one): Done => {
    const [now, before] = [stores.get(one.store.domain), known.get(one.store.domain)]
    const read = orUnpriced({ ...one.read, products_read: now?.products ?? 0 }, now, before)
    return { ...one, read: read.outcome === "unpriced" ? read : orShrunk(read, before) }
  })
})
