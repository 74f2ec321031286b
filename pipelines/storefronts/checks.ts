/**
 * Checks of storefronts before publication. Each query returns the bad rows. `warehouse/publishing/check.ts` runs them, and
 * checks for all data sets that no row is lost.
 */
import type { Check } from "@larder/warehouse"
import { error, shrinkage, warning } from "../run/severity.ts"
import { thresholds } from "../run/thresholds.ts"

const fromListed = (sighting: string) => `from ${sighting} where kind = 'product' and is_listed`

/** Products that are no longer listed, although no complete list of their store shows that they were removed. */
const vanished = `
  select count(*)
  from (${fromListed("live.storefront.sighting")}) l
  anti join (${fromListed("storefront.sighting")}) s using (id)
  anti join (from ingest.store_read where run_id = getvariable('run_id') and has_all_products and is_taken) r using (store_id)`

/** One row that names all stores. Only products that changed in this run are compared. In another currency, another magnitude is no surprise. */
const priceJumps = `
  with listed as (select id as product_id ${fromListed("live.storefront.sighting")}),
  changed as (select product_id, store_id, variants from storefront.product where run_id = getvariable('run_id')),
  current as (select store_id, unnest(variants, recursive := true) from changed),
  known as (
    select unnest(variants, recursive := true) from live.storefront.product semi join changed using (product_id) semi join listed using (product_id)
  ),
  jump as (
    select store_id, count(*) as prices
    from current join known on known.variant_id = current.variant_id and known.currency is not distinct from current.currency
    where known.price > 0 and current.price > 0 and greatest(known.price, current.price) >= 10 * least(known.price, current.price)
    group by store_id
  ),
  all_known as (
    select store_id, sum(len(list_filter(variants, lambda variant: variant.price > 0))) as prices
    from live.storefront.product semi join jump using (store_id) semi join listed using (product_id) group by store_id
  )
  select string_agg(domain || ' (' || jump.prices || ' of ' || all_known.prices || ' prices)', ', ' order by domain) as stores
  from jump join all_known using (store_id) join storefront.store using (store_id)
  where ${thresholds.priceJumps.sql("jump.prices", "all_known.prices")}
  having count(*) > 0`

export const checks: ReadonlyArray<Check> = [
  // Products that a complete read does not find are withdrawn. Their number is checked for each store when it is read.
  shrinkage({
    name: "products_do_not_shrink",
    what: "products",
    before: `select count(*) ${fromListed("live.storefront.sighting")}`,
    now: `(select count(*) ${fromListed("live.storefront.sighting")}) - (${vanished})`,
    percent: thresholds.lostStoreProducts.value
  }),
  error(
    "products_stand_once",
    "every product has one row",
    "select product_id, count(*) as rows from storefront.product group by product_id having count(*) > 1"
  ),
  error(
    "products_have_a_store",
    "every product and every collection belongs to a store",
    `select product_id as id from storefront.product anti join storefront.store using (store_id)
     union all select collection_id from storefront.collection anti join storefront.store using (store_id)`
  ),
  error(
    "prices_are_not_negative",
    "no variant has a price below 0",
    `select product_id from storefront.product
     where list_min(list_transform(variants, lambda variant: variant.price)) < 0`
  ),
  error(
    "reductions_are_above_prices",
    "a price before a reduction is above the current price",
    `select product_id from storefront.product
     where len(list_filter(variants, lambda variant: variant.compare_at_price <= variant.price)) > 0`
  ),
  error(
    "listed_products_are_there",
    "every product that is listed has its row",
    `select id from storefront.sighting
     anti join storefront.product on product_id = id
     where kind = 'product' and is_listed`
  ),
  warning(
    "variants_stand_once",
    "every variant belongs to one product",
    `select variant_id, count(*) as rows from (select unnest(variants).variant_id as variant_id from storefront.product)
     group by variant_id having count(*) > 1`
  ),
  {
    ...warning(
      "prices_keep_their_magnitude",
      `at most ${thresholds.priceJumps.value} % of the known prices of a store become ten times as high or a tenth, or change even more, at once`,
      priceJumps
    ),
    isLiveComparison: true
  },
  warning(
    "products_have_prices",
    `at most ${thresholds.unpricedProducts.value} % of the listed products of a store that lists at least 10 have no price`,
    `select store_id, count(*) as products, count(*) filter (where price_min is null) as without_price
     from storefront.listing group by store_id having ${thresholds.unpricedProducts.sql("without_price", "products")} and products >= 10`
  )
]
