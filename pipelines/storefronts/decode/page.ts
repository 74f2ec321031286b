/**
 * Reads a page of a shop's list, entry by entry. An entry that cannot be used becomes a reject and does not affect the
 * others. An entry is used whole or not at all, so each one is accounted for once.
 */

import { isObject, type JsonObject, shownJson, UnexpectedAnswer } from "./answers.ts"
import type { Batch, CollectionRow, ImageRow, MemberRow, ProductRow, RejectRow, VariantRow } from "./feed.ts"
import { notText } from "./payload-text.ts"
import type { Judged } from "./stated.ts"

export interface Page {
  readonly batch: Batch
  /** Native ids of what the page lists, in its order, including rejected entries: the shop does list them. */
  readonly ids: ReadonlyArray<string>
  /** Number of entries on the page, rejected ones included. Only 0 means an empty page. */
  readonly listed: number
}

/** Why an entry cannot be used, as the end of the sentence "The entry was rejected because …". */
export class Unusable extends Error {
  /** Of the product that it is about, if known. */
  readonly native_id: string | undefined
  constructor(problem: string, native_id?: string) {
    super(problem)
    this.native_id = native_id
  }
}

/** What an entry becomes. */
export interface ProductFound {
  readonly product: ProductRow
  readonly variants: ReadonlyArray<VariantRow>
  readonly images: ReadonlyArray<ImageRow>
}

/** Rejected entries are kept for inspection, up to this many characters. */
export const mostShown = 10_000

/** Shopify ids have up to 15 digits. A number that a double cannot hold exactly has changed already, and is refused. */
export const idOf = (value: unknown): string | null => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value > 0 ? String(value) : null
  return typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : null
}

/** A whole number from 1 that a column of 32 bits can hold; otherwise null. */
export const countOf = (value: unknown): number | null => {
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : null
}

/** The list of a page. */
export interface Entries {
  readonly entries: ReadonlyArray<unknown>
  /** Whether some bytes of the page are not text in its encoding: then each entry is checked. */
  readonly isTorn: boolean
}

interface Readers<A> extends Entries {
  readonly read: (entry: JsonObject, id: string) => A
  readonly keep: (found: A, id: string) => void
  readonly judged: Judged
}

const readEntries = <A>({ entries, isTorn, judged, keep, read }: Readers<A>) => {
  const ids: Array<string> = []
  const rejects: Array<RejectRow> = []
  const rejected: Array<string> = []
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? idOf(entry.id) : null
    if (id !== null) ids.push(id)
    try {
      if (!isObject(entry)) throw new Unusable("it is not a JSON object")
      if (isTorn && shownJson(entry).includes(notText)) {
        throw new Unusable("it has bytes that are not text in the page's encoding")
      }
      if (id === null) throw new Unusable(`its id is ${shownJson(entry.id).slice(0, 100)}, which is no id`)
      keep(read(entry, id), id)
      judged.use()
    } catch (cause) {
      if (!(cause instanceof Unusable)) throw cause
      if (id !== null) rejected.push(id)
      judged.reject(cause.message)
      rejects.push({ position: index + 1, reason: cause.message, payload: shownJson(entry).slice(0, mostShown) })
    }
  }
  return { ids, rejects, rejected, listed: entries.length }
}

export const pageOfProducts = (
  page: Entries,
  judged: Judged,
  read: (entry: JsonObject, id: string, judged: Judged) => ProductFound
): Page => {
  const rows: Array<string> = []
  const products: Array<ProductRow> = []
  const variants: Array<VariantRow> = []
  const images: Array<ImageRow> = []
  const { ids, rejects, rejected, listed } = readEntries({
    ...page,
    judged,
    read: (entry, id) => read(entry, id, judged),
    keep: (found, id) => {
      rows.push(id)
      products.push(found.product)
      for (const variant of found.variants) variants.push(variant)
      for (const image of found.images) images.push(image)
    }
  })
  const batch = { rows, products, variants, images, collections: [], members: [], rejects }
  return { ids, listed, batch: rejected.length === 0 ? batch : { ...batch, rejected } }
}

export const pageOfCollections = (
  page: Entries,
  judged: Judged,
  read: (entry: JsonObject, id: string) => CollectionRow
): Page => {
  const collections: Array<CollectionRow> = []
  const { ids, rejects, listed } = readEntries({ ...page, judged, read, keep: (found) => collections.push(found) })
  return { ids, listed, batch: { rows: [], products: [], variants: [], images: [], collections, members: [], rejects } }
}

/**
 * Members of a collection: only ids, in the shop's order. They are not rows to account for, since the products are read
 * from the list of all products. Fails with `UnexpectedAnswer` if an entry has no id: a member would be missing.
 */
export const pageOfMembers = (entries: ReadonlyArray<unknown>, collection: string, offset: number): Page => {
  const ids: Array<string> = []
  const members: Array<MemberRow> = []
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? idOf(entry.id) : null
    if (id === null) {
      throw new UnexpectedAnswer("other shape", `number ${index + 1} of the list is a product without an id`)
    }
    ids.push(id)
    members.push({ collection_native_id: collection, product_native_id: id, position: offset + index + 1 })
  }
  const batch = { rows: [], products: [], variants: [], images: [], collections: [], members, rejects: [] }
  return { ids, listed: entries.length, batch }
}
