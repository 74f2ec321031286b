/**
 * When each product and collection was last seen. A read that finds known data writes nothing, so everything that is
 * listed was found by the last complete read. A partial read counts only for new, changed and relisted items.
 */

/** Maps the name of a table to SQL: the table itself, or a query in its place. */
export type KnownTable = (table: string) => string

/** The tables with the existing data of the stores. */
export interface KnownStores {
  /** Tables of `storefront`. */
  readonly known: KnownTable
  /** Tables of `ingest`, with the reads of the existing data. */
  readonly knownReads: KnownTable
}

const selectChanged = (known: KnownTable, kind: "product" | "collection") => `
    select '${kind}' as kind, ${kind}_id as id, read_at
    from ${known(kind)} join store_read using (run_id, store_id)`

/**
 * A query with the columns of `storefront.last_seen`. The reads are materialized: in the catalogue they are a join, and if
 * it appeared four times, DuckDB 1.5 would search endlessly for common subplans.
 */
export const lastSeen = ({ known, knownReads }: KnownStores) => `
  with store_read as materialized (from ${knownReads("store_read")}),
  whole as (
    select store_id, 'product' as kind, max(read_at) as read_at
    from store_read where is_taken and has_all_products group by store_id
    union all
    select store_id, 'collection', max(read_at)
    from store_read where is_taken and fetch_status = 'complete' group by store_id
  ),
  changed as (${selectChanged(known, "product")}
    union all ${selectChanged(known, "collection")}
  )
  select kind, id, store_id, first_seen_at,
    if(is_listed, greatest(listed_since, whole.read_at, changed.read_at), last_seen_at) as last_seen_at,
    is_listed
  from ${known("sighting")}
  left join whole using (store_id, kind)
  left join changed using (kind, id)`
