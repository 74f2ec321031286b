/**
 * What a Shopify storefront answers: `/products.json`, `/collections.json`, `/collections/<handle>/products.json` and
 * `/meta.json`.
 *
 * Not taken: `products_count` of collections, which is wrong. Documents of the Admin API look alike and hold drafts: they are
 * refused.
 */
import type { CollectionRow } from "../feed.ts"
import {
  isObject,
  type JsonObject,
  misfit,
  objectsOf,
  parseAnswer,
  refuseEndless,
  UnexpectedAnswer
} from "./answers.ts"
import { htmlToText } from "./html-text.ts"
import { countOf, idOf, type Page, pageOfCollections, pageOfMembers, pageOfProducts, Unusable } from "./page.ts"
import { productOf } from "./shopify-product.ts"
import { tidied, utcTime, webAddress } from "./texts.ts"

const hasAny = (object: JsonObject, keys: ReadonlyArray<string>) => keys.some((key) => object[key] !== undefined)

const productOfAdmin = (product: JsonObject) =>
  hasAny(product, ["admin_graphql_api_id", "status"]) ||
  objectsOf(product.variants).some((variant) =>
    hasAny(variant, ["admin_graphql_api_id", "inventory_item_id", "old_inventory_quantity"])
  )
const collectionOfAdmin = (collection: JsonObject) =>
  hasAny(collection, ["admin_graphql_api_id", "body_html", "sort_order", "rules"])

const entriesOf = (text: string, key: string, isOfAdmin: (entry: JsonObject) => boolean): ReadonlyArray<unknown> => {
  const answer = parseAnswer(text)
  const entries = isObject(answer) ? answer[key] : undefined
  const isEmptyForAReason =
    isObject(answer) && answer.errors !== undefined && Array.isArray(entries) && entries.length === 0
  if (!Array.isArray(entries) || isEmptyForAReason) throw misfit(answer, `list of ${key}`)
  refuseEndless(entries, key)
  const foreign = objectsOf(entries).findIndex(isOfAdmin)
  if (foreign === -1) return entries
  const problem = `${key} as the Admin API gives them (number ${foreign + 1} has its fields), which include drafts; what is read is what the storefront shows`
  throw new UnexpectedAnswer("other shape", problem)
}

/** A page of `/products.json`. Fails with `UnexpectedAnswer`, of kind `window` beyond the 25,000 products that a shop shows. */
export const readProducts = (text: string): Page =>
  pageOfProducts(entriesOf(text, "products", productOfAdmin), productOf)

/** A page of `/collections/<handle>/products.json`: who belongs to a collection, after the `offset` members of earlier pages. */
export const readMembers = (text: string, collectionNativeId: string, offset: number): Page =>
  pageOfMembers(entriesOf(text, "products", productOfAdmin), collectionNativeId, offset)

/** Collections of a page that all changed within this time did not change: it is the time of the response. */
const responseSpan = 60_000

const isTimeOfResponse = (times: ReadonlyArray<string | null>) => {
  const instants = times.filter((time) => time !== null).map(Date.parse)
  return instants.length > 0 && Math.max(...instants) - Math.min(...instants) < responseSpan
}

const imageOfCollection = (image: unknown): CollectionRow["image"] => {
  const src = isObject(image) ? webAddress(image.src) : null
  if (!isObject(image) || src === null) return null
  return { src, width: countOf(image.width), height: countOf(image.height) }
}

/** A page of `/collections.json`. Fails with `UnexpectedAnswer`. */
export const readCollections = (text: string): Page => {
  const entries = entriesOf(text, "collections", collectionOfAdmin)
  const isResponse = isTimeOfResponse(objectsOf(entries).map((collection) => utcTime(collection.updated_at)))
  return pageOfCollections(entries, (collection, native_id) => {
    const title = tidied(collection.title)
    if (title === null) throw new Unusable("it has no title")
    return {
      native_id,
      title,
      handle: tidied(collection.handle),
      description: htmlToText(collection.description),
      image: imageOfCollection(collection.image),
      published_at: utcTime(collection.published_at),
      updated_at: isResponse ? null : utcTime(collection.updated_at)
    }
  })
}

/** What a shop says of itself. */
export interface StoreMeta {
  readonly platform_shop_id: string | null
  readonly name: string | null
  readonly description: string | null
  readonly url: string | null
  readonly domain: string | null
  readonly myshopify_domain: string | null
  /** ISO 4217. With markets, `/products.json` may be priced in another one. */
  readonly currency: string | null
  /** ISO 3166-1 alpha-2, of the account's address: it can be another than the shop's. */
  readonly country: string | null
  readonly province: string | null
  readonly city: string | null
  /** BCP 47, where the shop says one. */
  readonly language: string | null
  readonly published_products_count: number | null
  readonly published_collections_count: number | null
}

const codeOf = (value: unknown, shape: RegExp) => {
  const code = tidied(value)
  return code !== null && shape.test(code) ? code : null
}

/** From 0 on: a shop that lists nothing says so here. */
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null

const ofShops = ["id", "name", "domain", "myshopify_domain", "currency", "published_products_count"]

/** `/meta.json`. Fails with `UnexpectedAnswer`. */
export const readMeta = (text: string): StoreMeta => {
  const meta = parseAnswer(text)
  if (!isObject(meta) || ofShops.every((key) => meta[key] === undefined)) throw misfit(meta, "description of a shop")
  return {
    platform_shop_id: idOf(meta.id),
    name: tidied(meta.name),
    description: tidied(meta.description),
    url: webAddress(meta.url),
    domain: tidied(meta.domain)?.toLowerCase() ?? null,
    myshopify_domain: tidied(meta.myshopify_domain)?.toLowerCase() ?? null,
    currency: codeOf(meta.currency, /^[A-Z]{3}$/),
    country: codeOf(meta.country, /^[A-Z]{2}$/),
    province: tidied(meta.province),
    city: tidied(meta.city),
    language: codeOf(meta.language ?? meta.locale, /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/),
    published_products_count: numberOf(meta.published_products_count),
    published_collections_count: numberOf(meta.published_collections_count)
  }
}
