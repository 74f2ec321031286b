/** Reads a page of a shop's list, entry by entry. */
import { BatchBuilder, type ParsedRow } from "./batch-builder.ts"
import { type Batch, type FeedReject, makeBatch } from "./feed.ts"
import { UnusableRow } from "./feed-errors.ts"
import type { FeedStats } from "./feed-stats.ts"
import { undecodable } from "./payload-text.ts"
import { formatJson, isObject, type JsonObject, UnexpectedResponse } from "./responses.ts"
import { parseId } from "./texts.ts"

export interface FeedPage {
  readonly batch: Batch
  /** Native ids of the page's entries, in their order, including rejected ones: the shop does list them. */
  readonly ids: ReadonlyArray<string>
  /** Including rejected entries. Only 0 means an empty page. */
  readonly entryCount: number
}

export interface PageEntries {
  readonly entries: ReadonlyArray<unknown>
  /** Whether some bytes of the page are not text in its encoding: then each entry is checked. */
  readonly hasBadBytes: boolean
}

/** `read` returns the rows of an entry, or fails with `UnusableRow`. */
export const readFeedPage = (
  { entries, hasBadBytes }: PageEntries,
  stats: FeedStats,
  read: (entry: JsonObject, id: string) => ParsedRow,
  kind: FeedReject["kind"] = "product"
): FeedPage => {
  const builder = new BatchBuilder(stats, kind)
  const ids: Array<string> = []
  for (const [index, entry] of entries.entries()) {
    builder.addRow(
      index + 1,
      () => formatJson(entry),
      (identify) => {
        if (!isObject(entry)) throw new UnusableRow("it is not a JSON object")
        const id = parseId(entry.id)
        if (id !== null) {
          ids.push(id)
          identify(id)
        }
        if (hasBadBytes && formatJson(entry).includes(undecodable)) {
          throw new UnusableRow("it has bytes that are not text in the page's encoding")
        }
        if (id === null) throw new UnusableRow(`its id is ${formatJson(entry.id).slice(0, 100)}, which is not an id`)
        return read(entry, id)
      }
    )
  }
  return { ids, entryCount: entries.length, batch: builder.takeBatch() }
}

/**
 * Members of a collection: only ids, in the shop's order. They are not rows to account for, because the products are
 * read from the list of all products. Fails with `UnexpectedResponse` if an entry has no id: a member would be missing.
 */
export const readMemberPage = (entries: ReadonlyArray<unknown>, collection: string, offset: number): FeedPage => {
  const batch = makeBatch()
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? parseId(entry.id) : null
    if (id === null) {
      throw new UnexpectedResponse("other shape", `number ${index + 1} of the list is a product without an id`)
    }
    batch.members.push({ collection_native_id: collection, product_native_id: id, position: offset + index + 1 })
  }
  return { ids: batch.members.map((member) => member.product_native_id), entryCount: entries.length, batch }
}
