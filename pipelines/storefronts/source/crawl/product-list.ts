/**
 * Reads the list of a store's products, and checks that missing products were removed: a product that moves to a page
 * that was already read is not found. So the store's number of products is requested once more. If it does not confirm
 * that all were found, and a known product is missing, the pages are read again before anything is withdrawn (in
 * `warehouse/storefronts/reconcile.ts`).
 */
import { Effect } from "effect"
import type { FeedStats } from "../../decode/feed-stats.ts"
import { fetchStatusOf, type StoreOutcome } from "./outcome.ts"
import { type PagedList, type ReadPages, readPages } from "./pages.ts"
import type { LocalFault, RequestNeeds } from "./requests.ts"
import { makeStoreRead, type StoreRead } from "./store-read.ts"

/** Native ids of the products that a store listed before. Queried when a list ends, and not kept in memory. */
export type KnownProducts<E, R> = Effect.Effect<ReadonlySet<string>, E, R>
export const noKnownProducts: KnownProducts<never, never> = Effect.succeed(new Set())

interface Products<E, R> {
  readonly list: PagedList<E, R>
  readonly known: KnownProducts<E, R>
  /** The current number of products, for a store that reported one before; null if it does not report one. */
  readonly recount: (before: number) => Effect.Effect<number | null, LocalFault, RequestNeeds>
}

const combineReads = (first: ReadPages, second: ReadPages, missing: ReadonlyArray<string>): ReadPages => {
  const combined = { ...first, pages: first.pages + second.pages, listed: new Set([...first.ids, ...second.ids]).size }
  const { detail, outcome, reported } = second
  if (second.listed === 0 || fetchStatusOf(outcome) === "failed") {
    return { ...combined, outcome: "broken_off", detail: `its pages were read again: ${detail ?? "they were empty"}` }
  }
  if (outcome !== "complete") return { ...combined, outcome, detail }
  if (reported !== first.reported) {
    const change = `there were ${first.reported ?? "some"}, then ${reported ?? "some"} of them`
    return { ...combined, outcome: "moved", detail: change }
  }
  const movedCount = missing.filter((id) => second.ids.has(id)).length
  if (movedCount === 0) return combined
  return { ...combined, outcome: "moved", detail: `${movedCount} were found only when the pages were read again` }
}

export const readProductList = Effect.fnUntraced(function* <E, R>({ known, list, recount }: Products<E, R>) {
  const findMissing = (ids: ReadonlySet<string>) =>
    Effect.map(known, (listed) => [...listed].filter((id) => !ids.has(id)))
  const hasMissing = (ids: ReadonlySet<string>) => Effect.map(findMissing(ids), ({ length }) => length > 0)
  const first: ReadPages = yield* readPages({ ...list, hasMissing })
  if (first.outcome !== "complete" || first.listed === 0) return first

  const count = first.reported === null ? null : yield* recount(first.reported)
  if (count !== null && count !== first.reported) {
    const detail = `there were ${first.reported} before its pages were read, and ${count} after that`
    return { ...first, outcome: "moved", detail } satisfies ReadPages
  }
  if (count === first.listed) return first
  const missing = yield* findMissing(first.ids)
  if (missing.length === 0) return first
  const second = yield* readPages({
    ...list,
    takePage: (page) => (page.content.ids.every((id) => first.ids.has(id)) ? Effect.void : list.takePage(page))
  })
  return combineReads(first, second, missing)
})

/** The outcome for an empty product list. It is complete only if the store itself reports 0 products. */
const explainEmpty = ({ detail, outcome, reported }: ReadPages): readonly [StoreOutcome, string | null] => {
  if (outcome === "budget") return ["unreachable", `no product arrived in time: ${detail}`]
  if (outcome !== "complete") return [fetchStatusOf(outcome) === "failed" ? outcome : "unreadable", detail]
  if (reported === 0) return ["complete", null]
  return reported === null ? ["empty", null] : ["headless", `it reports ${reported} products`]
}

/** The result of a read that consists of a product list. */
export const summariseProductRead = (
  products: ReadPages,
  stats: FeedStats,
  shop: Pick<StoreRead, "currency_conflict" | "currency" | "facts">
): StoreRead => {
  const read = {
    pages_read: products.pages,
    products_read: products.listed,
    has_all_products: products.outcome === "complete",
    ...shop,
    fields_seen: stats.fieldsSeen
  }
  const fault = stats.findFault()
  if (fault !== null) return makeStoreRead("unreadable", fault, { ...read, has_all_products: false })
  if (products.listed === 0) return makeStoreRead(...explainEmpty(products), read)
  return makeStoreRead(products.outcome, products.detail, read)
}
