/** Reads a WooCommerce store through the product pages of its Store API, which has no collections. */
import { Effect } from "effect"
import type { FetchedPayload } from "../../../run/archive/fetch-list.ts"
import { FeedStats } from "../../decode/feed-stats.ts"
import { readWooCommerceProducts } from "../../decode/json/woocommerce.ts"
import type { ListedStore } from "../store-list.ts"
import type { StorePolicy } from "./policy.ts"
import { type KnownProducts, readProductList, summariseProductRead } from "./product-list.ts"
import { makeStoreRequests } from "./requests.ts"
import { emptyShopFacts, findCurrencyConflict, parseShopAddress, type TakeRows } from "./store-read.ts"

const adminApi = { path: /\/wp-json\/wc\/v\d/, name: "the REST API wc/v3 of WooCommerce" }

const productsPerPage = 100
/** The header with the number of products, which reveals an incomplete list. */
const totalHeader = "x-wp-total"

const readTotal = ({ extra_values }: FetchedPayload) => {
  const text = extra_values?.[totalHeader] ?? ""
  return /^\d{1,9}$/.test(text) ? { total: Number(text) } : {}
}

/** Extensions that page through other tables refuse the page after the last one, with 404 if they change its address. */
const refusalAfterEnd = {
  statuses: [400, 404],
  codes: ["rest_post_invalid_page_number", "woocommerce_rest_invalid_page_number"]
}

/** A store list may contain the store's address or the address of its API. */
const makePageAddress = ({ origin, pathname }: URL, page: number) => {
  const root = pathname.includes("/wp-json/") ? pathname : `${pathname.replace(/\/$/, "")}/wp-json/wc/store/v1/products`
  return `${origin}${root}?per_page=${productsPerPage}&page=${page}`
}

export const readWooCommerce = Effect.fn("Crawl.readWooCommerce")(function* <E, R>(
  store: ListedStore,
  take: TakeRows<E, R>,
  policy: StorePolicy,
  known: KnownProducts<E, R>
) {
  const address = parseShopAddress(store.location, adminApi)
  if (!(address instanceof URL)) return address
  const stats = new FeedStats()
  /** Currencies of all prices, which every row names. */
  const currencies = new Set<string | null>()
  const reading = Effect.gen(function* () {
    const requests = yield* makeStoreRequests(policy, { encoding: store.encoding })
    return yield* readProductList({
      list: {
        limit: productsPerPage,
        reported: null,
        refusalAfterEnd,
        fetchPage: (page) =>
          Effect.map(
            requests.getPage(makePageAddress(address, page), [totalHeader], (text) =>
              readWooCommerceProducts(text, stats)
            ),
            (page) => ({ ...page, ...readTotal(page.raw) })
          ),
        takePage: ({ content, raw }) => {
          for (const variant of content.batch.variants) if (variant.price !== null) currencies.add(variant.currency)
          return take(content.batch, raw)
        }
      },
      known,
      recount: Effect.succeed // no second request is needed: every page reports the current total
    })
  })
  const products = yield* Effect.scoped(reading)
  const facts = { ...emptyShopFacts, reported_product_count: products.reported }
  const currency_conflict = findCurrencyConflict(store, currencies)
  const currency = [...currencies].find((code) => code !== null) ?? store.currency ?? null
  return summariseProductRead(products, stats, { currency_conflict, currency, facts })
})
