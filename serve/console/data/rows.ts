/** Pages of rows, shared by the reads of the warehouse. */

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
}
/** Makes a page from rows that were queried with `limit + 1`. */
export const pageOf = <A>(rows: ReadonlyArray<A>, limit: number): Page<A> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit
})
