/** What every kind of read gives: rows as they come, and at the end how it went. */
import type { Effect } from "effect"
import type { RawFile } from "../../run/raw-file.ts"
import type { Batch } from "../feed.ts"
import { type Outcome, outcomes, statusOf } from "./outcome.ts"
import type { Listed } from "./pages.ts"

/** Takes the rows of one payload, or of a piece of one, with where they came from. The read waits for it. */
export type Take<E, R> = (batch: Batch, raw: RawFile) => Effect.Effect<void, E, R>

/** What the store says of itself; null where it does not. */
export interface StoreFacts {
  readonly name: string | null
  readonly url: string | null
  readonly description: string | null
  readonly country: string | null
  readonly city: string | null
  readonly province: string | null
  readonly language: string | null
  readonly platform_shop_id: string | null
  readonly myshopify_domain: string | null
  readonly reported_product_count: number | null
}

export const noFacts: StoreFacts = {
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

export type TableEnd = "with a line" | "within a line"

export interface StoreRead {
  readonly outcome: Outcome
  readonly fetch_status: "complete" | "partial" | "failed"
  /** For people: what the outcome means, and what happened. Null where all is well. */
  readonly detail: string | null
  /** Pages with lists of products, collections and members; files count as one. */
  readonly pages_read: number
  readonly products_read: number
  /** Whether the list of products was read whole, so that it says what is gone, whatever became of the collections. */
  readonly has_all_products: boolean
  readonly collections_read: number
  /** ISO 4217 of prices that name none themselves. */
  readonly currency: string | null
  readonly facts: StoreFacts
  /** How the file ends where the feed is a table. One that is a `.gz` ends with a line: it is never read cut off. Else null. */
  readonly table_end: TableEnd | null
  /** Fields of products that were there, by the names of the feed: `vendor`, `variant sku`. */
  readonly fields_seen: ReadonlySet<string>
}

const inWords = (sentence: string, detail: string | null) =>
  detail === null ? sentence : `${sentence.replace(/\.$/, "")} (${detail}).`

export const storeRead = (outcome: Outcome, detail: string | null, read: Partial<StoreRead> = {}): StoreRead => {
  const { sentence } = outcomes[outcome]
  const isFine = outcome === "complete" && detail === null
  const fetch_status = statusOf(outcome)
  return {
    pages_read: 0,
    products_read: 0,
    collections_read: 0,
    currency: null,
    facts: noFacts,
    table_end: null,
    fields_seen: new Set(),
    ...read,
    outcome,
    fetch_status,
    has_all_products: fetch_status !== "failed" && (read.has_all_products ?? outcome === "complete"),
    detail: isFine ? null : inWords(sentence, detail)
  }
}

/** The address of a shop, which is read page by page; undefined for a path, or what is no address. */
export const shopAddress = (location: string) => {
  const address = URL.parse(location)
  return address?.protocol === "https:" || address?.protocol === "http:" ? address : undefined
}

export const noAddress = (location: string) => storeRead("not_found", `its location, ${location}, is no web address`)

/** Private products and drafts are there, too: it is refused before it is asked. */
export const ofAdministrators = (name: string) =>
  `its location is ${name}, which is for administrators: list the address of the store itself`

/** What it means that a list of products held none. Only a store that says so itself has none. */
export const ofNothing = ({ detail, outcome, reported }: Listed): readonly [Outcome, string | null] => {
  if (outcome === "budget") return ["unreachable", `nothing came in time: ${detail}`]
  if (outcome !== "complete") return [statusOf(outcome) === "failed" ? outcome : "unreadable", detail]
  if (reported === 0) return ["complete", null]
  return reported === null ? ["empty", null] : ["headless", `it reports ${reported} products`]
}
