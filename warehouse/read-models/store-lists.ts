/**
 * Pages of a store's products and collections, from tables in the order of the API: by store, then by `place`. A page
 * begins after the publication time and id of the last row seen, so paging continues correctly in the next generation.
 *
 * Finding rows by `store_id` would scan all of them: ids of one kind have the same beginning, and DuckDB keeps only 8 bytes
 * of their minima and maxima. So the row numbers of each store are in memory, with a position at every 2,048th place.
 */
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"

/** Where a page ends. Publication times are in microseconds since 1970; null is last. */
export interface ListPosition {
  readonly published: bigint | null
  readonly id: string
}

export interface SortedTable {
  readonly name: string
  readonly id: string
  /** The record of a row, as an SQL expression of type JSON. */
  readonly record: string
}

/** Sorts unpublished rows last: it is before all timestamps of DuckDB. */
const unpublished = -(2n ** 63n - 1n)
const isAfter = (a: ListPosition, b: ListPosition) => {
  const [aTime, bTime] = [a.published ?? unpublished, b.published ?? unpublished]
  return aTime < bTime || (aTime === bTime && a.id > b.id)
}

const placesPerMark = 2048

const Extent = Schema.Struct({
  store_id: Schema.String,
  first_row: Schema.BigInt,
  last_row: Schema.BigInt,
  rows: Schema.Int
})
const selectExtents = ({ name }: SortedTable) => `
  select store_id, min(rowid) as first_row, max(rowid) as last_row, count(*)::integer as rows
  from storefront.${name}
  group by store_id`

const Mark = Schema.Struct({
  store_id: Schema.String,
  place: Schema.Int,
  published: Schema.NullOr(Schema.BigInt),
  id: Schema.String
})
const selectMarks = ({ id, name }: SortedTable) => `
  select store_id, place, epoch_us(published_at) as published, ${id} as id
  from storefront.${name}
  where place % ${placesPerMark} = 0
  order by store_id, place`

const ListRow = Schema.Struct({ id: Schema.String, published: Schema.NullOr(Schema.BigInt), record: Schema.String })
const selectRows = ({ id, name, record }: SortedTable, condition: string) => `
  select ${id} as id, epoch_us(published_at) as published, (${record})::varchar as record
  from storefront.${name}
  where rowid between $first_row and $last_row and store_id = $store and place between $from and $to ${condition}
  order by place
  limit $rows`
const afterPosition = ({ id }: SortedTable) => {
  const published = `coalesce(epoch_us(published_at), ${unpublished})`
  return `and (${published} < $published::bigint or (${published} = $published::bigint and ${id} > $id))`
}

/** The range of places that contains the page after a position. */
const findPlaces = (marks: ReadonlyArray<typeof Mark.Type>, after: ListPosition, rows: number, total: number) => {
  const next = marks.findIndex((mark) => isAfter(mark, after))
  const before = next === -1 ? marks.length : next
  const from = (marks[before - 1]?.place ?? 0) + 1
  const mark = marks[next]
  return { from, to: mark === undefined ? total : mark.place + rows }
}

export const openLists = Effect.fnUntraced(function* (db: DuckDb["Service"], table: SortedTable) {
  const extents = new Map((yield* db.all(Extent, selectExtents(table))).map((extent) => [extent.store_id, extent]))
  const marks = Map.groupBy(yield* db.all(Mark, selectMarks(table)), ({ store_id }) => store_id)
  const selectFirstPage = selectRows(table, "")
  const selectNextPage = selectRows(table, afterPosition(table))
  return {
    count: (store: string) => extents.get(store)?.rows ?? 0,
    /** Records as JSON. `next` is undefined on the last page. */
    page: Effect.fnUntraced(function* (store: string, after: ListPosition | undefined, limit: number) {
      const extent = extents.get(store)
      if (extent === undefined) return { records: [], next: undefined }
      const rows = limit + 1 // one more row shows whether there is another page
      const rowRange = { first_row: Number(extent.first_row), last_row: Number(extent.last_row), store, rows }
      const pageRows =
        after === undefined
          ? yield* db.all(ListRow, selectFirstPage, { ...rowRange, from: 1, to: rows })
          : yield* db.all(ListRow, selectNextPage, {
              ...rowRange,
              ...findPlaces(marks.get(store) ?? [], after, rows, extent.rows),
              published: String(after.published ?? unpublished),
              id: after.id
            })
      const last = pageRows.length > limit ? pageRows[limit - 1] : undefined
      return {
        records: pageRows.slice(0, limit).map(({ record }) => record),
        next: last && { published: last.published, id: last.id }
      }
    })
  }
})

export type StoreLists = Effect.Success<ReturnType<typeof openLists>>
