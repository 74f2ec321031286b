/**
 * The port between a kind of feed and everything behind it: whatever a store speaks, it becomes products, variants, pictures,
 * collections and their members, as rows that stand for themselves. Rows of one product may come in any order and far apart, so
 * that a feed of any size is read in constant memory; they are put together in SQL.
 *
 * Texts are tidied and never ""; prices are decimal texts such as `12.5`; times are UTC, `2026-06-06T12:41:05.000Z`. What the feed
 * does not say is null.
 */

import type { Judged } from "./feeds/stated.ts"

/** The first row of a `native_id` counts; the others are variants of it, or the same again. */
export interface ProductRow {
  /** Shopify and WooCommerce id, CSV handle, Google `item_group_id` or `id`. */
  readonly native_id: string
  readonly title: string
  readonly handle: string | null
  readonly vendor: string | null
  readonly product_type: string | null
  /** Category as the feed states it: an id of the Google taxonomy, or a path such as `Food Items > Bakery`. */
  readonly stated_category: string | null
  readonly tags: ReadonlyArray<string>
  readonly body_text: string | null
  readonly published_at: string | null
  readonly created_at: string | null
  /** False for drafts, archived and unpublished products: they are read, and left out with all that belongs to them. */
  readonly is_published: boolean
  /** Where the feed states from where to where the prices of the variants go, and not each of them. */
  readonly price_range?: { readonly min: string; readonly max: string }
}

export interface VariantRow {
  readonly product_native_id: string
  readonly native_id: string
  readonly title: string
  readonly sku: string | null
  readonly barcode: string | null
  readonly price: string | null
  readonly compare_at_price: string | null
  /** ISO 4217, where the row itself names it; else that of the read. */
  readonly currency: string | null
  readonly grams: number | null
  readonly available: boolean | null
  readonly option1: string | null
  readonly option2: string | null
  readonly option3: string | null
  /** Place among the variants; where the feed has none, the place of the row among all rows. */
  readonly position: number
  readonly image_src: string | null
  readonly requires_shipping: boolean | null
}

export interface ImageRow {
  readonly product_native_id: string
  readonly position: number
  readonly src: string
  readonly width: number | null
  readonly height: number | null
}

export interface CollectionRow {
  readonly native_id: string
  readonly title: string
  readonly handle: string | null
  readonly description: string | null
  readonly image: { readonly src: string; readonly width: number | null; readonly height: number | null } | null
  readonly published_at: string | null
  readonly updated_at: string | null
}

export interface MemberRow {
  readonly collection_native_id: string
  readonly product_native_id: string
  readonly position: number
}

/** A row of the payload that cannot be used, and why. */
export interface RejectRow {
  /** Line of a CSV record, number of an item or of a product in its payload, from 1. */
  readonly position: number
  readonly reason: string
  /** As it came, cut to 10,000 characters. */
  readonly payload: string
}

/**
 * What a piece of a payload gave. Rows of a payload are the products of a page, the records of a CSV, the items of a feed, and
 * collections: each is in `rows`, in `collections` or in `rejects`.
 */
export interface Batch {
  /** `native_id` of the product that each row stands behind, in the order of the rows. */
  readonly rows: ReadonlyArray<string>
  readonly products: ReadonlyArray<ProductRow>
  readonly variants: ReadonlyArray<VariantRow>
  readonly images: ReadonlyArray<ImageRow>
  readonly collections: ReadonlyArray<CollectionRow>
  readonly members: ReadonlyArray<MemberRow>
  readonly rejects: ReadonlyArray<RejectRow>
  /** `native_id` of products that are there, and are rejects: they are not withdrawn for it. Absent where there are none. */
  readonly rejected?: ReadonlyArray<string>
}

/** A payload that cannot be read at all, or not to its end: another format, a header without what is needed, cut off. */
export class PayloadUnreadable extends Error {
  /** For people: what is wrong, and where. */
  readonly problem: string
  constructor(problem: string) {
    super(problem)
    this.problem = problem
  }
}

/**
 * A feed that is one file: CSV, XML, TSV. `currency` is that of the store list, for prices that name none; `content_type` is the
 * header that it came with, whose charset is believed. Batches hold some hundreds of rows. Fails with `PayloadUnreadable`, after the batches before that place.
 */
export type ReadFile = (
  bytes: AsyncIterable<Uint8Array>,
  about: {
    readonly currency: string | null
    readonly content_type?: string | null
    /** Is told what the rows state, so that the file as a whole can be judged by it. */
    readonly judged?: Judged
  }
) => AsyncIterable<Batch>
