/**
 * SQL that reconciles the reads of a run with the existing data of their stores. The staged rows become those of the live
 * generation: first-seen times are kept, items are withdrawn only after their whole list was read, and changes of
 * variants are added to the history. The staged row of an unchanged item becomes equal to the live one.
 *
 * Each store is staged once, with its products, collections and read (`ingest.store_read`); after a failed read, only the
 * store. `storefront.variant_change` is only written here, as are sightings of all products whose rows are usable.
 */
import type { KnownTable, KnownTables } from "../tables/tables.ts"

/** SQL condition on a row of `ingest.store_read`: whether the read saw all that the store lists, even if it rejected some. */
export const sawAll = "outcome in ('complete', 'rejected')"

const selectChanged = (known: KnownTable, kind: "product" | "collection") => `
    select '${kind}' as kind, ${kind}_id as id, read_at
    from ${known(kind)} join store_read using (run_id, store_id)`

/**
 * A query with the columns of `storefront.last_seen`: when each product and collection was last seen. A read that finds
 * known data writes nothing, so everything that is listed was found by the last complete read. A partial read counts
 * only for new, changed and relisted items.
 *
 * The reads are materialized: in the catalogue they are a join, and if it appeared four times, DuckDB 1.5 would search
 * endlessly for common subplans.
 */
export const lastSeen = ({ known, knownReads }: KnownTables) => `
  with store_read as materialized (from ${knownReads("store_read")}),
  complete_read as (
    select store_id, 'product' as kind, max(read_at) as read_at
    from store_read where is_taken and has_all_products group by store_id
    union all
    select store_id, 'collection', max(read_at)
    from store_read where is_taken and ${sawAll} group by store_id
  ),
  changed as (${selectChanged(known, "product")}
    union all ${selectChanged(known, "collection")}
  )
  select kind, id, store_id, first_seen_at,
    if(is_listed, greatest(listed_since, complete_read.read_at, changed.read_at), last_seen_at) as last_seen_at,
    is_listed
  from ${known("sighting")}
  left join complete_read using (store_id, kind)
  left join changed using (kind, id)`

/** If runs overlap, the later read of a store is used. A failed read never replaces one that did not fail. */
const discardOlderReads = (knownReads: KnownTable) => [
  `create or replace temp table outdated as
   select store_id
   from ingest.store_read r
   join (
     select store_id, max(read_at) as read_at, max(read_at) filter (fetch_status <> 'failed') as fetched_at
     from ${knownReads("store_read")} group by store_id
   ) l using (store_id)
   where r.read_at < if(r.fetch_status = 'failed', l.read_at, l.fetched_at)`,
  ...["product", "collection", "sighting", "store"].map(
    (table) => `delete from storefront.${table} where store_id in (from outdated)`
  ),
  "update ingest.store_read set is_taken = false where store_id in (from outdated)"
]

/** The reads that are used. The stores of the others were deleted. */
const createReads = `
  create or replace temp view current_read as
  select store_id, fetch_status, read_at, has_all_products, ${sawAll} as saw_all
  from ingest.store_read join storefront.store using (store_id)`

/** Facts that a partial or failed read may have missed. */
const facts = [
  "description",
  "country",
  "language",
  "city",
  "province",
  "platform_shop_id",
  "myshopify_domain",
  "reported_product_count"
]

/** After a failed read, the currency of the existing rows is kept, even if the store list has another. */
const keepStoreFacts = ({ known, knownReads }: KnownTables) => `
  update storefront.store s
  set
    first_seen_at = l.first_seen_at,
    currency = case
      when l.fetch_status = 'complete' then s.currency
      when l.fetch_status = 'failed' and l.has_rows then l.currency
      else coalesce(s.currency, l.currency)
    end,
    url = if(l.fetch_status = 'complete' or s.url <> 'https://' || s.domain, s.url, l.url),
    ${facts.map((fact) => `${fact} = if(l.fetch_status = 'complete', s.${fact}, coalesce(s.${fact}, l.${fact}))`).join(",\n    ")}
  from (
    select known.*, current_read.fetch_status,
      store_id in (select store_id from ${knownReads("store_read")} where fetch_status <> 'failed') as has_rows
    from ${known("store")} known join current_read using (store_id)
  ) l
  where l.store_id = s.store_id`

/** Sightings that are already staged are of products and collections in unusable rows: known ones stay listed. */
const keepKnownSightings = (known: KnownTable) => [
  `delete from storefront.sighting where (kind, id) not in (select (kind, id) from ${known("sighting")} where is_listed)`,
  `update storefront.sighting s set first_seen_at = l.first_seen_at, listed_since = l.listed_since
   from ${known("sighting")} l where l.kind = s.kind and l.id = s.id`
]

const recordSightings = (known: KnownTable) => `
  insert into storefront.sighting by name
  select found.kind, found.id, found.store_id, coalesce(l.first_seen_at, read_at) as first_seen_at,
    if(l.is_listed, l.listed_since, read_at) as listed_since, true as is_listed
  from (
    select 'product' as kind, product_id as id, store_id from storefront.product
    union all
    select 'collection', collection_id, store_id from storefront.collection
  ) found
  join current_read using (store_id)
  left join ${known("sighting")} l on l.kind = found.kind and l.id = found.id`

const withdraw = (live: KnownTables) => `
  insert into storefront.sighting by name
  select l.kind, l.id, l.store_id, l.first_seen_at, l.listed_since, false as is_listed, last_seen.last_seen_at
  from ${live.known("sighting")} l
  join current_read on current_read.store_id = l.store_id
  anti join storefront.sighting seen on seen.kind = l.kind and seen.id = l.id
  join (${lastSeen(live)}) last_seen on last_seen.kind = l.kind and last_seen.id = l.id
  where l.is_listed and if(l.kind = 'product', has_all_products, saw_all)`

const listedRows = (known: KnownTable) => `
  select * from ${known("product")}
  where product_id in (select id from ${known("sighting")} where kind = 'product' and is_listed)`

const variantIds = (variants: string) => `list_transform(${variants}, lambda variant: variant.variant_id)`

/** Ids of products with rows that may be missing. Filled by the code that stages products; most runs have none. */
export const possiblyIncompleteTable = "possibly_incomplete_product"
export const createPossiblyIncompleteTable = `create table if not exists ${possiblyIncompleteTable} (product_id varchar)`

/** If rows of a product may be missing and it lacks known variants, it is incomplete, and the existing row is kept. */
const discardIncompleteProducts = (known: KnownTable) => `
  delete from storefront.product
  where product_id in (
    select s.product_id
    from storefront.product s
    semi join ${possiblyIncompleteTable} using (product_id)
    join (${listedRows(known)}) l on l.product_id = s.product_id
    where not list_has_all(${variantIds("s.variants")}, ${variantIds("l.variants")})
  )`

/** After a read that missed something, a collection that lacks known members may be incomplete: the existing row is kept. */
const discardIncompleteCollections = (known: KnownTable) => `
  delete from storefront.collection
  where collection_id in (
    select s.collection_id
    from storefront.collection s
    join current_read on current_read.store_id = s.store_id and not saw_all
    join ${known("collection")} l on l.collection_id = s.collection_id
    where not list_has_all(s.product_ids, l.product_ids)
  )`

const variantDigest = (variants: string) => `
  hash(list_transform(${variants}, lambda variant: struct_pack(
    variant_id := variant.variant_id,
    price := variant.price,
    compare_at_price := variant.compare_at_price,
    currency := variant.currency,
    available := variant.available
  )))`

/** Most products are unchanged. Only the others are compared variant by variant. */
const findChangedProducts = (known: KnownTable) => `
  create or replace temp table changed_product as
  select product_id
  from (select product_id, ${variantDigest("variants")} as digest from storefront.product) s
  left join (select product_id, ${variantDigest("variants")} as digest from (${listedRows(known)})) l using (product_id)
  where s.digest is distinct from l.digest
  union all
  select id from storefront.sighting where kind = 'product' and not is_listed`

const createVariants = `
  create or replace temp view current_variant as
  select variant.variant_id, product_id, store_id, read_at as seen_at,
    variant.price, variant.compare_at_price, variant.currency, variant.available
  from (select product_id, store_id, unnest(variants) as variant from storefront.product semi join changed_product using (product_id))
  join current_read using (store_id)`

const findLastChanges = (known: KnownTable) => `
  create or replace temp table last_change as
  with history as (from ${known("variant_change")} semi join changed_product using (product_id))
  from history
  semi join (select variant_id, max(seen_at) as seen_at from history group by variant_id) using (variant_id, seen_at)`

const recordChanges = `
  insert into storefront.variant_change by name
  select n.*,
    case when l.variant_id is null then 'first_seen' when l.change = 'gone' then 'back' else 'changed' end as change
  from current_variant n
  left join last_change l using (variant_id)
  where l.variant_id is null or l.change = 'gone'
    or (n.price, n.compare_at_price, n.currency, n.available)
      is distinct from (l.price, l.compare_at_price, l.currency, l.available)`

const recordRemovedVariants = `
  insert into storefront.variant_change by name
  select l.variant_id, l.product_id, l.store_id, read_at as seen_at, 'gone' as change
  from last_change l
  join current_read on current_read.store_id = l.store_id
  anti join current_variant n on n.variant_id = l.variant_id
  where l.change <> 'gone'`

export const reconcileReads = (live: KnownTables): ReadonlyArray<string> => {
  const { known, knownReads } = live
  return [
    createPossiblyIncompleteTable,
    ...discardOlderReads(knownReads),
    createReads,
    keepStoreFacts(live),
    ...keepKnownSightings(known),
    recordSightings(known),
    withdraw(live),
    discardIncompleteProducts(known),
    discardIncompleteCollections(known),
    findChangedProducts(known),
    createVariants,
    findLastChanges(known),
    recordChanges,
    recordRemovedVariants,
    `drop table ${possiblyIncompleteTable}`
  ]
}
