/**
 * Finds fields that a feed has lost: they had values at the last read of the store, and now occur in no row. A needed
 * field was more likely renamed than dropped: without it, sale prices would pass as regular prices, and variants as products. An
 * optional field is null then. A field that is present but empty is not a fault. Status columns are not checked, because
 * nothing is known about drafts.
 */
import { type DuckDb, literal, readLive, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import { thresholds } from "../../run/thresholds.ts"
import { feedKinds } from "../feed-kinds.ts"
import type { ListedStore } from "../source/store-list.ts"
import { type ComparedField, comparedFields, hasValue } from "./compared-fields.ts"

/** If items omit empty fields, a few of them may lose the last values of a field by chance. */
const isLost = (kind: ListedStore["kind"], products: number, listed: number) =>
  !feedKinds[kind].omitsEmptyFields ||
  (thresholds.lostFieldProducts.isMetBy(products) && thresholds.lostFieldShare.isMetBy(products, listed))

const FieldCount = Schema.Struct({ domain: Schema.String, field: Schema.String, products: Schema.Int })

/** One variant field takes about 2 s for a million products with four variants each. */
const countFieldsSql = (fields: ReadonlyArray<ComparedField>, domains: ReadonlyArray<string>) => `
  select domain, field, count(*)::integer as products
  from (
    select store_id, unnest([${fields.map((field) => `case when ${hasValue[field]} then '${field}' end`).join(", ")}]) as field
    from storefront.product
    where product_id in (select id from storefront.sighting where kind = 'product' and is_listed)
      and store_id in (select store_id from storefront.store where domain in (${domains.map(literal).join(", ")}))
  )
  join storefront.store using (store_id)
  where field is not null
  group by all`

interface ReadFeed {
  readonly store: ListedStore
  readonly fields_seen: ReadonlySet<string>
  readonly listed: number
}

const findMissingFields = ({ fields_seen, store }: ReadFeed) =>
  comparedFields.flatMap((field) => {
    const known = feedKinds[store.kind].fields[field]
    return known === undefined || known.names.some((name) => fields_seen.has(name)) ? [] : [{ field, ...known }]
  })

export interface LostField {
  /** As the feed names it, such as `brand`, or `size or color`. */
  readonly name: string
  readonly isOptional: boolean
  /** How many products had a value in it before, such as `4 of 5 products`. */
  readonly products: string
}

/** The lost fields of each store that lost any, by domain. */
export const findLostFields = Effect.fnUntraced(function* ({ layout }: RunContext, stores: ReadonlyArray<ReadFeed>) {
  const incomplete = stores.flatMap((feed) => {
    const missing = findMissingFields(feed)
    return missing.length === 0 ? [] : [{ ...feed, missing }]
  })
  const fields = [...new Set(incomplete.flatMap(({ missing }) => missing.map(({ field }) => field)))]
  if (incomplete.length === 0) return new Map<string, ReadonlyArray<LostField>>()
  const domains = incomplete.map(({ store }) => store.domain)
  const live = yield* readLive(layout, storefront, [], (db: DuckDb["Service"]) =>
    db.all(FieldCount, countFieldsSql(fields, domains))
  )
  const before = new Map(live.map(({ domain, field, products }) => [`${domain} ${field}`, products]))
  return new Map(
    incomplete.flatMap(({ listed, missing, store }) => {
      const lost = missing.flatMap(({ field, isOptional, names }): ReadonlyArray<LostField> => {
        const products = before.get(`${store.domain} ${field}`) ?? 0
        if (products === 0 || !isLost(store.kind, products, listed)) return []
        return [{ name: names.join(" or "), isOptional, products: `${products} of ${listed} products` }]
      })
      return lost.length === 0 ? [] : [[store.domain, lost] as const]
    })
  )
})
