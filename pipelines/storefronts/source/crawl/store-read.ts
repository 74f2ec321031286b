/** What the reads of all kinds of stores share: the function that receives their rows, and their result. */
import type { Effect } from "effect"
import type { FetchedPayload } from "../../../run/archive/fetch-list.ts"
import type { OddValue } from "../../../run/odd-values.ts"
import type { Batch } from "../../decode/feed.ts"
import type { StoreMeta } from "../../decode/json/shopify-json.ts"
import type { ListedStore } from "../store-list.ts"
import { fetchStatusOf, outcomes, type StoreOutcome } from "./outcome.ts"

/** Receives the rows of a payload, or of a piece of it. The read waits for it. */
export type TakeRows<E, R> = (batch: Batch, raw: FetchedPayload) => Effect.Effect<void, E, R>

/** Facts about a shop, as it states them itself; null if it does not. */
export interface ShopFacts
  extends Omit<StoreMeta, "currency" | "domain" | "published_collections_count" | "published_products_count"> {
  readonly reported_product_count: number | null
}

export const emptyShopFacts: ShopFacts = {
  name: null,
  url: null,
  description: null,
  country: null,
  city: null,
  province: null,
  language: null,
  platform_shop_id: null,
  myshopify_domain: null,
  reported_product_count: null
}

export type TableEnd = "newline" | "mid_line"

export interface StoreRead {
  readonly outcome: StoreOutcome
  readonly fetch_status: "complete" | "partial" | "failed"
  /** A message: the meaning of the outcome, and what happened. Null if nothing went wrong. */
  readonly detail: string | null
  /** Pages with lists of products, collections and members; files count as one. */
  readonly pages_read: number
  readonly products_read: number
  /** Whether the product list was complete, so that missing products no longer exist. Independent of the collections. */
  readonly has_all_products: boolean
  readonly collections_read: number
  /** ISO 4217 code for prices that name none themselves. */
  readonly currency: string | null
  /** Two statements about the currency of its prices that contradict each other; null if none do. */
  readonly currency_conflict: string | null
  /** When the first sale after the read begins or ends; null if the store states no such time. */
  readonly sale_changes_at: Date | null
  readonly facts: ShopFacts
  /** How the file ends if the feed is a table; otherwise null. A `.gz` counts as complete: a truncated one fails. */
  readonly table_end: TableEnd | null
  /** Fields of products that occurred, by the names of the feed: `vendor`, `variant sku`. */
  readonly fields_seen: ReadonlySet<string>
}

export interface ReadStore {
  readonly store: ListedStore
  readonly read: StoreRead
  readonly rows_read: number
  readonly rows_rejected: number
  readonly read_at: string
  readonly seconds: number
  /** Values of optional fields that were not understood. */
  readonly odd_values: ReadonlyArray<OddValue>
  /** Whether only rejects make the read incomplete, and an earlier run recorded them with the same text. */
  readonly is_known?: boolean
}

/** How the currency in the store list contradicts those that the store states itself; null if it does not. */
export const findCurrencyConflict = (
  { currency }: Pick<ListedStore, "currency">,
  stated: Iterable<string | null>
): string | null => {
  const others = [...stated].filter((code) => code !== null && code !== currency)
  if (currency === undefined || others.length === 0) return null
  return `its prices are in ${others.join(", ")}, and the store list states ${currency}`
}

export const feedName = ({ domain }: ListedStore) => `store/${domain}`

const joinDetail = (sentence: string, detail: string | null) =>
  detail === null ? sentence : `${sentence.replace(/\.$/, "")} (${detail}).`

export const makeStoreRead = (
  outcome: StoreOutcome,
  detail: string | null,
  read: Partial<StoreRead> = {}
): StoreRead => {
  const { sentence } = outcomes[outcome]
  const isFine = outcome === "complete" && detail === null
  const fetch_status = fetchStatusOf(outcome)
  return {
    pages_read: 0,
    products_read: 0,
    collections_read: 0,
    currency: null,
    currency_conflict: null,
    sale_changes_at: null,
    facts: emptyShopFacts,
    table_end: null,
    fields_seen: new Set(),
    ...read,
    outcome,
    fetch_status,
    has_all_products: fetch_status !== "failed" && (read.has_all_products ?? outcome === "complete"),
    detail: isFine ? null : joinDetail(sentence, detail)
  }
}

/**
 * The address of a shop that is read page by page, or the result for another location. An admin API also lists private
 * products and drafts, so its address is rejected before any request.
 */
export const parseShopAddress = (location: string, admin: { readonly path: RegExp; readonly name: string }) => {
  const address = URL.parse(location)
  if (address?.protocol !== "https:" && address?.protocol !== "http:") {
    return makeStoreRead("not_found", `its location, ${location}, is not a web address`)
  }
  if (!admin.path.test(address.pathname)) return address
  const problem = `its location is ${admin.name}, which is for administrators: list the address of the store itself`
  return makeStoreRead("unreadable", problem)
}
