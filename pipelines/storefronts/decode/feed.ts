/**
 * The rows that the readers of feeds return. Each reader converts its format to products, variants, pictures,
 * collections and their members, as independent rows. The rows of one product may come in any order and far apart, so a
 * feed of any size is read in constant memory; SQL assembles them.
 *
 * Strings are normalized and never ""; prices are decimal strings such as `12.5`; times are UTC,
 * `2026-06-06T12:41:05.000Z`. A value that the feed does not state is null.
 */
import type { FeedOddValue, FeedStats } from "./feed-stats.ts"

/** The first row with a `native_id` is used; the others are variants of the product, or repeat it. */
export interface FeedProduct {
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
  /** False for drafts, archived and unpublished products, which are left out with their variants and pictures. */
  readonly is_published: boolean
  /** Present if the feed states the price range of the variants instead of each price. */
  readonly price_range?: { readonly min: string; readonly max: string }
}

export interface FeedVariant {
  readonly product_native_id: string
  readonly native_id: string
  readonly title: string
  readonly sku: string | null
  /** The SKU with its entities, if it contains one: ids that contain the SKU are permanent. */
  readonly sent_sku?: string | null
  readonly barcode: string | null
  readonly price: string | null
  readonly compare_at_price: string | null
  /** ISO 4217, if the row itself names it; null if the currency of the whole read applies. */
  readonly currency: string | null
  readonly grams: number | null
  readonly available: boolean | null
  readonly option1: string | null
  readonly option2: string | null
  readonly option3: string | null
  /** Position among the variants; if the feed states none, the position of the row among all rows. */
  readonly position: number
  readonly image_src: string | null
  readonly requires_shipping: boolean | null
}

export interface FeedImage {
  readonly product_native_id: string
  readonly position: number
  readonly src: string
  readonly width: number | null
  readonly height: number | null
  /** In a file, the position of the row that names it: a row that is rejected as a duplicate adds no picture. */
  readonly source_row?: number
}

export interface FeedCollection {
  readonly native_id: string
  readonly title: string
  readonly handle: string | null
  readonly description: string | null
  readonly image: { readonly src: string; readonly width: number | null; readonly height: number | null } | null
  readonly published_at: string | null
  readonly updated_at: string | null
}

interface FeedMember {
  readonly collection_native_id: string
  readonly product_native_id: string
  readonly position: number
}

export interface FeedReject {
  /** Line of a CSV record, number of an item or of a product in its payload, from 1. */
  readonly position: number
  readonly reason: string
  /** As received, truncated to 10,000 characters. */
  readonly payload: string
  readonly kind: "product" | "collection"
  /** Of the product or collection, which is not withdrawn; null if the row does not tell it. */
  readonly native_id: string | null
}

/**
 * The rows of one piece of a payload. Payload rows are the products of a page, the records of a CSV file, the items of
 * a feed, and collections. Each of them is in `rows`, `collections` or `rejects`.
 */
export interface Batch {
  /** The `native_id` of the product that each row belongs to, in the order of the rows. */
  readonly rows: ReadonlyArray<string>
  readonly products: ReadonlyArray<FeedProduct>
  readonly variants: ReadonlyArray<FeedVariant>
  readonly images: ReadonlyArray<FeedImage>
  readonly collections: ReadonlyArray<FeedCollection>
  readonly members: ReadonlyArray<FeedMember>
  readonly rejects: ReadonlyArray<FeedReject>
  /** In rows that are used. */
  readonly odd_values: ReadonlyArray<FeedOddValue>
}

export const makeBatch = (): { readonly [Field in keyof Batch]: Array<Batch[Field][number]> } => ({
  rows: [],
  products: [],
  variants: [],
  images: [],
  collections: [],
  members: [],
  rejects: [],
  odd_values: []
})

/** The bytes of a file, from its beginning at each call: some questions need all of it before its first row is read. */
export type OpenFile = () => AsyncIterable<Uint8Array>

/**
 * Reads a feed that is one file: CSV, XML or TSV. Batches have up to 500 rows. Fails with `FeedUnreadable`, after yielding
 * the batches before the fault.
 */
export type ReadFile = (
  open: OpenFile,
  context: {
    /** Of the store list, for prices without one. */
    readonly currency: string | null
    /** The header of the response; its charset is used. */
    readonly content_type?: string | null
    /** Of the store list. */
    readonly encoding?: string | null
    /** When the file was received, in milliseconds since 1970: a sale counts if it takes place then. */
    readonly read_at?: number
    /** Collects the types of all values, which show whether the file as a whole can be trusted. */
    readonly stats?: FeedStats
  }
) => AsyncIterable<Batch>
