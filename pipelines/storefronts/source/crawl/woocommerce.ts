/** Reads a WooCommerce store: the pages of products of its Store API, which has no collections. */
import { Effect } from "effect"
import type { RawFile } from "../../../run/archive/fetch-list.ts"
import { readWooCommerceProducts } from "../../decode/json/woocommerce.ts"
import { Judged } from "../../decode/stated.ts"
import type { ListedStore } from "../store-list.ts"
import type { StorePolicy } from "./policy.ts"
import { type Known, readProductList } from "./product-list.ts"
import { makeAsking } from "./requests.ts"
import { noFacts, ofNothing, shopAddress, storeRead, type Take } from "./store-read.ts"

const adminApi = { path: /\/wp-json\/wc\/v\d/, name: "the REST API wc/v3 of WooCommerce" }

/** The largest page size that the API allows. */
const limit = 100
/** The header with the number of products. It confirms that an empty list is empty, and exposes an incomplete list. */
const total = "x-wp-total"

const totalOf = ({ told }: RawFile) => {
  const text = told?.[total] ?? ""
  return /^\d{1,9}$/.test(text) ? { total: Number(text) } : {}
}

/** A list may name the store or the address of its API. */
const addressOf = ({ origin, pathname }: URL, page: number) => {
  const root = pathname.includes("/wp-json/") ? pathname : `${pathname.replace(/\/$/, "")}/wp-json/wc/store/v1/products`
  return `${origin}${root}?per_page=${limit}&page=${page}`
}

const readAt = Effect.fnUntraced(function* <E, R>(
  address: URL,
  store: ListedStore,
  take: Take<E, R>,
  policy: StorePolicy,
  known: Known<E, R>
) {
  const asking = yield* makeAsking(policy)
  const judged = new Judged()
  let currency = store.currency ?? null
  const products = yield* readProductList({
    list: {
      limit,
      reported: null,
      turn: (page) =>
        Effect.map(
          asking.page(addressOf(address, page), [total], (text) => readWooCommerceProducts(text, judged)),
          (turned) => ({
            ...turned,
            ...totalOf(turned.raw)
          })
        ),
      take: ({ found, raw }) => {
        currency ??= found.batch.variants.find((variant) => variant.currency !== null)?.currency ?? null
        return take(found.batch, raw)
      }
    },
    known,
    recount: Effect.succeed // every page has stated the current number
  })
  const facts = { ...noFacts, reported_product_count: products.reported }
  const fields_seen = judged.seen
  const read = { pages_read: products.pages, products_read: products.listed, currency, facts, fields_seen }
  const fault = judged.fault()
  if (fault !== null) return storeRead("unreadable", fault, { ...read, has_all_products: false })
  if (products.listed === 0) return storeRead(...ofNothing(products), read)
  return storeRead(products.outcome, products.detail, read)
})

export const readWooCommerce = Effect.fn("Crawl.readWooCommerce")(function* <E, R>(
  store: ListedStore,
  take: Take<E, R>,
  policy: StorePolicy,
  known: Known<E, R>
) {
  const address = shopAddress(store.location, adminApi)
  if (!(address instanceof URL)) return address
  return yield* Effect.scoped(readAt(address, store, take, policy, known))
})
