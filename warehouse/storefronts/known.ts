/** Where a run finds what is already known about the stores. */

/** Maps the name of a table to SQL: the table itself, or a query in its place. */
export type Known = (table: string) => string

export interface KnownStores {
  /** Tables of `storefront`. */
  readonly known: Known
  /** Tables of `ingest`: the reads from which the known data comes. */
  readonly knownReads: Known
}
