/** What was found of each store, counted in products: a file has several rows for some, and rows of drafts. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { type StoreRead, storeRead } from "./crawl/read.ts"
import type { KnownStore } from "./previous.ts"
import type { Done } from "./read-store.ts"

const Found = Schema.Struct({ domain: Schema.String, products: Schema.Int })
const found = `
  select domain, count(*) filter (where is_published)::integer as products
  from (
    select domain, native_id, arg_min(is_published, seq) as is_published from feed.product group by all
  )
  group by domain`

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
  const products = new Map((yield* db.all(Found, found)).map((row) => [row.domain, row.products]))
  return done.map((one): Done => {
    const read = { ...one.read, products_read: products.get(one.store.domain) ?? 0 }
    return { ...one, read: orShrunk(read, known.get(one.store.domain)) }
  })
})
