/**
 * Reads a Shopify storefront: `meta.json` before and after the pages of `products.json`, the pages of
 * `collections.json`, and the members of each collection. `/cart.js` and all other paths that robots.txt forbids by
 * default are never requested.
 */
import { Effect } from "effect"
import type { RawFile } from "../../../run/archive/fetch-list.ts"
import { UnexpectedAnswer } from "../../decode/answers.ts"
import { readMeta, readShopifyProducts, type StoreMeta } from "../../decode/json/shopify-json.ts"
import type { Page } from "../../decode/page.ts"
import { Judged } from "../../decode/stated.ts"
import type { ListedStore } from "../store-list.ts"
import { isUnread, type Outcome, type Unread, unread } from "./outcome.ts"
import { ShopifyStores, type StorePolicy, shopifyLane } from "./policy.ts"
import { type Known, readProductList } from "./product-list.ts"
import { type Asking, makeAsking } from "./requests.ts"
import { readShopifyCollections } from "./shopify-collections.ts"
import { noFacts, ofNothing, type StoreFacts, shopAddress, storeRead, type Take } from "./store-read.ts"

const adminApi = { path: /\/admin\/api\//, name: "Shopify's Admin API" }

/** The largest page size that Shopify allows. */
const limit = 250
/** Entries beyond this cannot be paged through: Shopify answers 400, or `errors` in place of products. */
const window = 25_000

/** The currency of the prices in the same answer. The prices name none, and are those of the visitor's market. */
const currencyCookie = "set-cookie:cart_currency"

const currencyOf = ({ told }: RawFile) => {
  const code = told?.[currencyCookie]?.toUpperCase() ?? ""
  return /^[A-Z]{3}$/.test(code) ? code : null
}

/** The base address of the store, with a slash at the end. A list may name one of its feeds. */
const baseOf = ({ origin, pathname }: URL) =>
  `${origin}${pathname.replace(/\/?(?:(?:products|collections|meta)\.json)?$/, "/")}`

const factsOf = (meta: StoreMeta): StoreFacts => ({
  name: meta.name,
  url: meta.url,
  description: meta.description,
  country: meta.country,
  city: meta.city,
  province: meta.province,
  language: meta.language,
  platform_shop_id: meta.platform_shop_id,
  myshopify_domain: meta.myshopify_domain,
  reported_product_count: meta.published_products_count
})

/** If `meta.json` fails like this, all other requests would fail too. */
const isHopeless = ({ outcome }: Unread) =>
  (["locked", "throttled", "unreachable", "private_address", "budget"] satisfies ReadonlyArray<Outcome>).some(
    (hopeless) => hopeless === outcome
  )

/** A fault if a currency or a count is mistyped: everything that follows would lack it. */
const metaOrFault = (text: string): StoreMeta | Unread => {
  try {
    return readMeta(text)
  } catch (cause) {
    if (!(cause instanceof UnexpectedAnswer) || cause.kind !== "mistyped") throw cause
    return unread("unreadable", `meta.json: ${cause.problem}`)
  }
}

/** Null if the store does not describe itself; its products may still be readable. */
const readFacts = (asking: Asking, base: string) =>
  Effect.catchIf(
    Effect.map(asking.page(`${base}meta.json`, [], metaOrFault), ({ found }): StoreMeta | Unread | null => found),
    isUnread,
    (error) => Effect.succeed(isHopeless(error) ? error : null)
  )

/** Recordings that were made without a country answer requests with one. */
const orWithout = (pin: string, asking: Asking): Asking => ({
  ...asking,
  page: (url, wants, read) =>
    asking.page(url, wants, read).pipe(
      Effect.catchIf(
        (error) => pin !== "" && isUnread(error) && error.is_unrecorded,
        (error) =>
          Effect.mapError(asking.page(url.replace(pin, ""), wants, read), (other) =>
            isUnread(other) && other.is_unrecorded ? error : other
          )
      )
    )
})

const readAt = Effect.fnUntraced(function* <E, R>(
  address: URL,
  store: ListedStore,
  take: Take<E, R>,
  policy: StorePolicy,
  known: Known<E, R>
) {
  const anyCountry = yield* makeAsking(policy, shopifyLane)
  const base = baseOf(address)
  const meta = yield* readFacts(anyCountry, base)
  if (isUnread(meta)) {
    return storeRead(meta.outcome === "budget" ? "unreachable" : meta.outcome, meta.detail)
  }
  const facts = meta === null ? noFacts : factsOf(meta)
  const country = store.country ?? meta?.country
  const pin = country === undefined || country === null ? "" : `&country=${country}`
  const asking = orWithout(pin, anyCountry)
  const addressOf = (path: string, page: number) => `${base}${path}?limit=${limit}&page=${page}${pin}`
  const fallbackCurrency = store.currency ?? meta?.currency ?? null

  let currency: string | null = null
  /**
   * The market may change during a read. Prices in a currency other than the first one carry that currency. Pages that
   * name no currency are in the first one that any page names, or if no page names one, in that of the list or the
   * account.
   */
  const takeProducts = ({ batch }: Page, raw: RawFile) => {
    const own = currencyOf(raw)
    currency ??= own
    const isForeign = own !== null && own !== currency
    const variants = isForeign ? batch.variants.map((variant) => ({ ...variant, currency: own })) : batch.variants
    return take({ ...batch, variants }, raw)
  }
  const judged = new Judged()
  const products = yield* readProductList({
    list: {
      limit,
      window,
      reported: facts.reported_product_count,
      turn: (page) =>
        asking.page(addressOf("products.json", page), [currencyCookie], (text) => readShopifyProducts(text, judged)),
      take: ({ found, raw }) => takeProducts(found, raw)
    },
    known,
    recount: () =>
      Effect.map(readFacts(asking, base), (now) => (isUnread(now) ? null : (now?.published_products_count ?? null)))
  })
  const read = {
    pages_read: products.pages,
    products_read: products.listed,
    has_all_products: products.outcome === "complete",
    currency: currency ?? fallbackCurrency,
    facts,
    fields_seen: judged.seen
  }
  const fault = judged.fault()
  if (fault !== null) return storeRead("unreadable", fault, { ...read, has_all_products: false })
  if (products.listed === 0) return storeRead(...ofNothing(products), read)
  if (products.outcome === "budget" || products.outcome === "broken_off") {
    return storeRead(products.outcome, products.detail, read)
  }
  const collections = yield* readShopifyCollections({
    asking,
    limit,
    window,
    addressOf,
    take,
    reported: meta?.published_collections_count ?? null,
    most: policy.mostCollections
  })
  const { detail, outcome } = products.outcome === "complete" ? collections : products
  const pages_read = products.pages + collections.pages
  return storeRead(outcome, detail, { ...read, pages_read, collections_read: collections.listed })
})

export const readShopify = Effect.fn("Crawl.readShopify")(function* <E, R>(
  store: ListedStore,
  take: Take<E, R>,
  policy: StorePolicy,
  known: Known<E, R>
) {
  const address = shopAddress(store.location, adminApi)
  if (!(address instanceof URL)) return address
  const atOnce = yield* ShopifyStores
  return yield* atOnce.withPermit(Effect.scoped(readAt(address, store, take, policy, known)))
})
