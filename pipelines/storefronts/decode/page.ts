/**
 * Reads a page of a shop's list, entry by entry. An entry that cannot be used becomes a reject and does not affect the
 * others. An entry is used whole or not at all, so each one is accounted for once.
 */
import { formatJson, isObject, type JsonObject, UnexpectedAnswer } from "./answers.ts"
import {
  type Batch,
  emptyBatch,
  type FeedCollection,
  type FeedImage,
  type FeedProduct,
  type FeedVariant,
  type OpenBatch
} from "./feed.ts"
import { undecodable } from "./payload-text.ts"
import type { FeedStats } from "./typed-fields.ts"

export interface FeedPage {
  readonly batch: Batch
  /** Native ids of the page's entries, in their order, including rejected ones: the shop does list them. */
  readonly ids: ReadonlyArray<string>
  /** Including rejected entries. Only 0 means an empty page. */
  readonly entryCount: number
}

/** Why a row cannot be used, as the end of the sentence "The row was rejected because …". */
export class UnusableRow extends Error {
  readonly native_id: string | undefined
  constructor(problem: string, native_id?: string) {
    super(problem)
    this.native_id = native_id
  }
}

/** Runs `read`, and adds the id of the row's product if it fails with `UnusableRow`. */
export const withProductId = <A>(native_id: string, read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw cause instanceof UnusableRow ? new UnusableRow(cause.message, native_id) : cause
  }
}

export interface ProductRows {
  readonly product: FeedProduct
  readonly variants: ReadonlyArray<FeedVariant>
  readonly images: ReadonlyArray<FeedImage>
}

/** Rejected rows are kept for inspection, up to this many characters. */
export const maxPayloadCharacters = 10_000

/**
 * Shopify ids have up to 15 digits. A number that a double cannot hold exactly has changed already, and is rejected.
 */
export const parseId = (value: unknown): string | null => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value > 0 ? String(value) : null
  return typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : null
}

/** A whole number from 1 that a column of 32 bits can hold; otherwise null. */
export const parseCount = (value: unknown): number | null => {
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : null
}

export interface PageEntries {
  readonly entries: ReadonlyArray<unknown>
  /** Whether some bytes of the page are not text in its encoding: then each entry is checked. */
  readonly hasBadBytes: boolean
}

/** Passes each entry to `read`, which fails with `UnusableRow` or adds the entry's rows to `batch`. */
const readEntries = (
  { entries, hasBadBytes }: PageEntries,
  stats: FeedStats,
  batch: OpenBatch,
  read: (entry: JsonObject, id: string) => void
) => {
  const ids: Array<string> = []
  const rejectedIds: Array<string> = []
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? parseId(entry.id) : null
    if (id !== null) ids.push(id)
    try {
      if (!isObject(entry)) throw new UnusableRow("it is not a JSON object")
      if (hasBadBytes && formatJson(entry).includes(undecodable)) {
        throw new UnusableRow("it has bytes that are not text in the page's encoding")
      }
      if (id === null) throw new UnusableRow(`its id is ${formatJson(entry.id).slice(0, 100)}, which is not an id`)
      read(entry, id)
      stats.recordUsed()
    } catch (cause) {
      if (!(cause instanceof UnusableRow)) throw cause
      if (id !== null) rejectedIds.push(id)
      stats.recordReject(cause.message)
      const payload = formatJson(entry).slice(0, maxPayloadCharacters)
      batch.rejects.push({ position: index + 1, reason: cause.message, payload })
    }
  }
  return { ids, rejectedIds }
}

export const readProductPage = (
  page: PageEntries,
  stats: FeedStats,
  readProduct: (entry: JsonObject, id: string, stats: FeedStats) => ProductRows
): FeedPage => {
  const batch = emptyBatch()
  const { ids, rejectedIds } = readEntries(page, stats, batch, (entry, id) => {
    const { images, product, variants } = readProduct(entry, id, stats)
    batch.rows.push(id)
    batch.products.push(product)
    for (const variant of variants) batch.variants.push(variant)
    for (const image of images) batch.images.push(image)
  })
  if (rejectedIds.length > 0) batch.rejected = rejectedIds
  return { ids, entryCount: page.entries.length, batch }
}

export const readCollectionPage = (
  page: PageEntries,
  stats: FeedStats,
  readCollection: (entry: JsonObject, id: string) => FeedCollection
): FeedPage => {
  const batch = emptyBatch()
  const { ids } = readEntries(page, stats, batch, (entry, id) => {
    batch.collections.push(readCollection(entry, id))
  })
  return { ids, entryCount: page.entries.length, batch }
}

/**
 * Members of a collection: only ids, in the shop's order. They are not rows to account for, because the products are
 * read from the list of all products. Fails with `UnexpectedAnswer` if an entry has no id: a member would be missing.
 */
export const readMemberPage = (entries: ReadonlyArray<unknown>, collection: string, offset: number): FeedPage => {
  const batch = emptyBatch()
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? parseId(entry.id) : null
    if (id === null) {
      throw new UnexpectedAnswer("other shape", `number ${index + 1} of the list is a product without an id`)
    }
    batch.members.push({ collection_native_id: collection, product_native_id: id, position: offset + index + 1 })
  }
  return { ids: batch.members.map((member) => member.product_native_id), entryCount: entries.length, batch }
}
