/**
 * Paged lists. Every page is a paid call. A page is fetched when its first row is needed, so a caller that leaves the
 * loop early pays for no further page.
 */
import type { CallCost } from "./cost.ts"

export interface Page<Row> {
  readonly data: ReadonlyArray<Row>
  /** Pass it as `cursor` for the next page; null means that this was the last. */
  readonly next_cursor: string | null
  readonly cost: CallCost
}

export interface Paged<Args extends ReadonlyArray<unknown>, Row> {
  /** One page. */
  (...args: Args): Promise<Page<Row>>
  /** This page and all following ones, at the maximum size unless `limit` is given. Each is a paid call. */
  readonly pages: (...args: Args) => AsyncGenerator<Page<Row>, void, undefined>
  /** The rows of all pages, one after the other. Each page is a paid call. */
  readonly all: (...args: Args) => AsyncGenerator<Row, void, undefined>
}

/** State of a loop over all pages: the maximum size, and the cursor from the page before. A single page has neither. */
interface LoopState {
  readonly limit?: number
  readonly cursor?: string
}

export const paged = <Args extends ReadonlyArray<unknown>, Row>(
  maxLimit: number,
  fetchPage: (args: Args, state: LoopState) => Promise<Page<Row>>
): Paged<Args, Row> => {
  async function* pages(...args: Args) {
    let page = await fetchPage(args, { limit: maxLimit })
    yield page
    while (page.next_cursor !== null) {
      page = await fetchPage(args, { limit: maxLimit, cursor: page.next_cursor })
      yield page
    }
  }
  async function* all(...args: Args) {
    for await (const page of pages(...args)) yield* page.data
  }
  return Object.assign(async (...args: Args) => fetchPage(args, {}), { pages, all })
}

/** The query of one page. A given `limit` applies to all pages; a given `cursor` is the start. */
export const pageQuery = <Q extends { readonly limit?: number | undefined; readonly cursor?: string | undefined }>(
  query: Q,
  { cursor, limit }: LoopState
) => ({ ...query, limit: query.limit ?? limit, cursor: cursor ?? query.cursor })
