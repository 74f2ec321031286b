/** Where a run finds what is known of the stores already. */

/** A table by its name, as SQL: the table itself, or a query in its place. */
export type Known = (table: string) => string

export interface KnownStores {
  /** Tables of `storefront`. */
  readonly known: Known
  /** Tables of `ingest`: the reads that what is known came of. */
  readonly knownReads: Known
}
