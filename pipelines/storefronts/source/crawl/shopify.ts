/**
 * Reads a Shopify storefront: `meta.json` before and after the pages of `products.json`, the pages of
 * `collections.json`, and the members of each collection. `/cart.js` and all other paths that robots.txt forbids by
 * default are never requested.
 */
import { Effect } from "effect"
import type { FetchedPayload } from "../../../run/archive/fetch-list.ts"
import { makeBatch } from "../../decode/feed.ts"
import { FeedStats } from "../../decode/feed-stats.ts"
import { readMeta, readShopifyProducts, type StoreMeta } from "../../decode/json/shopify-json.ts"
import type { FeedPage } from "../../decode/page.ts"
import { UnexpectedResponse } from "../../decode/responses.ts"
import type { ListedStore } from "../store-list.ts"
import { isUnread, makeUnread, type Unread } from "./outcome.ts"
import { ShopifyStoreSlots, type StorePolicy, shopifyPool } from "./policy.ts"
import { type KnownProducts, readProductList, summariseProductRead } from "./product-list.ts"
import { makeStoreRequests, type StoreRequests } from "./requests.ts"
import { readShopifyCollections } from "./shopify-collections.ts"
import {
  emptyShopFacts,
  findCurrencyConflict,
  makeStoreRead,
  parseShopAddress,
  type ShopFacts,
  type TakeRows
} from "./store-read.ts"

const adminApi = { path: /\/admin\/api\//, name: "Shopify's Admin API" }

const limit = 250
/** Entries beyond this cannot be paged through: Shopify responds with 400, or with `errors` in place of products. */
const window = 25_000

/** The currency of the prices in the same response, which depends on the visitor's market. */
const currencyCookie = "set-cookie:cart_currency"

const readCurrency = ({ extra_values }: FetchedPayload) => {
  const code = extra_values?.[currencyCookie]?.toUpperCase() ?? ""
  return /^[A-Z]{3}$/.test(code) ? code : null
}

/** The base address of the store, with a slash at the end. A list may name one of its feeds. */
const baseAddress = ({ origin, pathname }: URL) =>
  `${origin}${pathname.replace(/\/?(?:(?:products|collections|meta)\.json)?$/, "/")}`

const toFacts = ({
  currency: _currency,
  domain: _domain,
  published_collections_count: _count,
  published_products_count: reported_product_count,
  ...facts
}: StoreMeta): ShopFacts => ({ ...facts, reported_product_count })

/** Whether `meta.json` failed for a reason that fails all other requests, too. */
const failsAllRequests = ({ outcome }: Unread) =>
  ["locked", "throttled", "unreachable", "private_address", "budget", "out_of_time"].includes(outcome)

/** `Unread` if a currency or a count has another type: everything that follows would lack it. */
const readMetaOrFault = (text: string, stats: FeedStats): StoreMeta | Unread => {
  try {
    return readMeta(text, stats)
  } catch (cause) {
    if (!(cause instanceof UnexpectedResponse) || cause.kind !== "mistyped") throw cause
    return makeUnread("unreadable", `meta.json: ${cause.problem}`)
  }
}

/**
 * Null if the store has no description of itself; its products may still be readable. `take` receives the odd values of
 * the description.
 */
const readFacts = Effect.fnUntraced(function* <E, R>(requests: StoreRequests, base: string, take: TakeRows<E, R>) {
  const stats = new FeedStats()
  const page = yield* Effect.catchIf(
    requests.getPage(`${base}meta.json`, [], (text) => readMetaOrFault(text, stats)),
    isUnread,
    (error) => Effect.succeed(failsAllRequests(error) ? error : null)
  )
  if (page === null || isUnread(page)) return page
  const odd_values = stats.takeOddValues()
  if (odd_values.length > 0) yield* take({ ...makeBatch(), odd_values }, page.raw)
  return page.content
})

/** Also uses recordings that were made without a country for requests with one. */
const retryWithoutCountry = (countryQuery: string, requests: StoreRequests): StoreRequests => ({
  ...requests,
  getPage: (url, extraValues, read) =>
    requests.getPage(url, extraValues, read).pipe(
      Effect.catchIf(
        (error) => countryQuery !== "" && isUnread(error) && error.is_unrecorded,
        (error) =>
          Effect.mapError(requests.getPage(url.replace(countryQuery, ""), extraValues, read), (other) =>
            isUnread(other) && other.is_unrecorded ? error : other
          )
      )
    )
})

const readAt = Effect.fnUntraced(function* <E, R>(
  address: URL,
  store: ListedStore,
  take: TakeRows<E, R>,
  policy: StorePolicy,
  known: KnownProducts<E, R>
) {
  const anyCountryRequests = yield* makeStoreRequests(policy, { encoding: store.encoding, pool: shopifyPool })
  const base = baseAddress(address)
  const meta = yield* readFacts(anyCountryRequests, base, take)
  if (isUnread(meta)) {
    return makeStoreRead(meta.outcome === "budget" ? "unreachable" : meta.outcome, meta.detail)
  }
  const facts = meta === null ? emptyShopFacts : toFacts(meta)
  const country = store.country ?? meta?.country
  const countryQuery = country === undefined || country === null ? "" : `&country=${country}`
  const requests = retryWithoutCountry(countryQuery, anyCountryRequests)
  const makeAddress = (path: string, page: number) => `${base}${path}?limit=${limit}&page=${page}${countryQuery}`

  /** Currencies that the pages name, in order. */
  const currencies = new Set<string>()
  let firstCurrency: string | null = null
  /**
   * The market may change during a read. Prices in a currency other than the first one are stored with it. Pages without
   * a currency are in the first one that any page names, or if no page names one, in that of the account or the list.
   */
  const takeProducts = ({ batch }: FeedPage, raw: FetchedPayload) => {
    const pageCurrency = readCurrency(raw)
    if (pageCurrency !== null) currencies.add(pageCurrency)
    firstCurrency ??= pageCurrency
    const isForeign = pageCurrency !== null && pageCurrency !== firstCurrency
    const variants = isForeign
      ? batch.variants.map((variant) => ({ ...variant, currency: pageCurrency }))
      : batch.variants
    return take({ ...batch, variants }, raw)
  }
  const stats = new FeedStats()
  const products = yield* readProductList({
    list: {
      limit,
      window,
      reported: facts.reported_product_count,
      fetchPage: (page) =>
        requests.getPage(makeAddress("products.json", page), [currencyCookie], (text) =>
          readShopifyProducts(text, stats)
        ),
      takePage: ({ content, raw }) => takeProducts(content, raw)
    },
    known,
    recount: () =>
      Effect.map(
        readFacts(requests, base, () => Effect.void),
        (end) => (isUnread(end) ? null : (end?.published_products_count ?? null))
      )
  })
  const stated = currencies.size > 0 ? [...currencies] : [meta?.currency ?? null]
  const read = summariseProductRead(products, stats, {
    currency_conflict: findCurrencyConflict(store, stated),
    currency: stated[0] ?? store.currency ?? null,
    facts
  })
  const isOver = read.fetch_status === "failed" || ["budget", "broken_off"].includes(read.outcome)
  if (isOver || products.listed === 0) return read
  const collections = yield* readShopifyCollections({
    requests,
    limit,
    window,
    makeAddress,
    take,
    reported: meta?.published_collections_count ?? null,
    maxCollections: policy.maxCollections
  })
  const { detail, outcome } = products.outcome === "complete" ? collections : products
  const pages_read = read.pages_read + collections.pages
  return makeStoreRead(outcome, detail, { ...read, pages_read, collections_read: collections.listed })
})

export const readShopify = Effect.fn("Crawl.readShopify")(function* <E, R>(
  store: ListedStore,
  take: TakeRows<E, R>,
  policy: StorePolicy,
  known: KnownProducts<E, R>
) {
  const address = parseShopAddress(store.location, adminApi)
  if (!(address instanceof URL)) return address
  const slots = yield* ShopifyStoreSlots
  return yield* slots.withPermit(Effect.scoped(readAt(address, store, take, policy, known)))
})
