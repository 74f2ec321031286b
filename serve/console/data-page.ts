/** Pages of rows, which reads of the warehouse have in common. */

export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
}
/** Of rows that were asked for with one more than the page takes. */
export const pageOf = <A>(rows: ReadonlyArray<A>, limit: number): Page<A> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit
})
