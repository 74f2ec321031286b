/**
 * When each product and collection was last seen. A read that finds known data writes nothing, so the time is derived
 * from the reads: everything that is listed was found by the last read of the whole list. A read of only a part of the
 * list counts for what it found new, changed or listed again, and not for what it found unchanged.
 */

/** Maps the name of a table to SQL: the table itself, or a query in its place. */
export type Known = (table: string) => string

/** Where a run finds what is already known about the stores. */
export interface KnownStores {
  /** Tables of `storefront`. */
  readonly known: Known
  /** Tables of `ingest`: the reads from which the known data comes. */
  readonly knownReads: Known
}

const changedIn = (known: Known, kind: "product" | "collection") => `
    select '${kind}' as kind, ${kind}_id as id, read_at
    from ${known(kind)} join store_read using (run_id, store_id)`

/**
 * A query over `storefront.sighting`, with the columns of `storefront.last_seen`. The reads are materialized: in the
 * catalogue they are a join, and if it appeared here four times, DuckDB 1.5 would search endlessly for common subplans.
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
  changed as (${changedIn(known, "product")}
    union all ${changedIn(known, "collection")}
  )
  select kind, id, store_id, first_seen_at,
    if(is_listed, greatest(listed_since, whole.read_at, changed.read_at), last_seen_at) as last_seen_at,
    is_listed
  from ${known("sighting")}
  left join whole using (store_id, kind)
  left join changed using (kind, id)`
