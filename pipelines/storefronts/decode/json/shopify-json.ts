/**
 * Reads the answers of a Shopify storefront: `/products.json`, `/collections.json`,
 * `/collections/<handle>/products.json` and `/meta.json`.
 *
 * `products_count` of collections is not read, because it is wrong. Documents of the Admin API look alike and contain
 * drafts: they are refused.
 */

import {
  isObject,
  type JsonObject,
  misfit,
  objectsOf,
  parseAnswer,
  refuseEndless,
  UnexpectedAnswer
} from "../answers.ts"
import type { CollectionRow } from "../feed.ts"
import { type Entries, type Page, pageOfCollections, pageOfMembers, pageOfProducts, Unusable } from "../page.ts"
import { notText } from "../payload-text.ts"
import { address, body, count, Fields, id, Judged, object, type Type, text, time } from "../stated.ts"
import { tidied, utcTime } from "../texts.ts"
import { productOf } from "./shopify-product.ts"

const hasAny = (object: JsonObject, keys: ReadonlyArray<string>) => keys.some((key) => object[key] !== undefined)

const productOfAdmin = (product: JsonObject) =>
  hasAny(product, ["admin_graphql_api_id", "status"]) ||
  objectsOf(product.variants).some((variant) =>
    hasAny(variant, ["admin_graphql_api_id", "inventory_item_id", "old_inventory_quantity"])
  )
const collectionOfAdmin = (collection: JsonObject) =>
  hasAny(collection, ["admin_graphql_api_id", "body_html", "sort_order", "rules"])

const entriesOf = (text: string, key: string, isOfAdmin: (entry: JsonObject) => boolean): Entries => {
  const answer = parseAnswer(text)
  const entries = isObject(answer) ? answer[key] : undefined
  const isEmptyForAReason =
    isObject(answer) && answer.errors !== undefined && Array.isArray(entries) && entries.length === 0
  if (!Array.isArray(entries) || isEmptyForAReason) throw misfit(answer, `list of ${key}`)
  refuseEndless(entries, key)
  const foreign = objectsOf(entries).findIndex(isOfAdmin)
  if (foreign === -1) return { entries, isTorn: text.includes(notText) }
  const problem = `${key} as the Admin API gives them (number ${foreign + 1} has its fields), which include drafts; what is read is what the storefront shows`
  throw new UnexpectedAnswer("other shape", problem)
}

/** A page of `/products.json`. Fails with `UnexpectedAnswer`, of kind `window` beyond the 25,000 products that a shop shows. */
export const readShopifyProducts = (answer: string, judged = new Judged()): Page =>
  pageOfProducts(entriesOf(answer, "products", productOfAdmin), judged, productOf)

/** A page of `/collections/<handle>/products.json`: members of a collection, after `offset` of earlier pages. */
export const readMembers = (answer: string, collectionNativeId: string, offset: number): Page =>
  pageOfMembers(entriesOf(answer, "products", productOfAdmin).entries, collectionNativeId, offset)

/** If all `updated_at` of a page lie within this span, they are the time of the response, not of changes. */
const responseSpan = 60_000

const isTimeOfResponse = (times: ReadonlyArray<string | null>) => {
  const instants = times.filter((time) => time !== null).map(Date.parse)
  return instants.length > 0 && Math.max(...instants) - Math.min(...instants) < responseSpan
}

const imageOfCollection = (stated: unknown, judged: Judged): CollectionRow["image"] => {
  const image = new Fields(judged).read("image", stated, object)
  if (image === null) return null
  const fields = new Fields(judged, "picture", 1)
  const src = fields.read("src", image.src, address)
  const width = fields.read("width", image.width, count)
  const height = fields.read("height", image.height, count)
  return src === null ? null : { src, width, height }
}

/** A page of `/collections.json`. Fails with `UnexpectedAnswer`. */
export const readCollections = (answer: string, judged = new Judged()): Page => {
  const page = entriesOf(answer, "collections", collectionOfAdmin)
  const isResponse = isTimeOfResponse(objectsOf(page.entries).map((collection) => utcTime(collection.updated_at)))
  return pageOfCollections(page, judged, (collection, native_id) => {
    const fields = new Fields(judged)
    const title = fields.read("title", collection.title, text)
    const updated_at = fields.read("updated_at", collection.updated_at, time)
    if (title === null) throw new Unusable("it has no title")
    return {
      native_id,
      title,
      handle: fields.read("handle", collection.handle, text),
      description: fields.read("description", collection.description, body),
      image: imageOfCollection(collection.image, judged),
      published_at: fields.read("published_at", collection.published_at, time),
      updated_at: isResponse ? null : updated_at
    }
  })
}

/** What a shop states about itself. */
export interface StoreMeta {
  readonly platform_shop_id: string | null
  readonly name: string | null
  readonly description: string | null
  readonly url: string | null
  readonly domain: string | null
  readonly myshopify_domain: string | null
  /** ISO 4217. With markets, `/products.json` may be priced in another one. */
  readonly currency: string | null
  /** ISO 3166-1 alpha-2, of the account's address: it may differ from the shop's. */
  readonly country: string | null
  readonly province: string | null
  readonly city: string | null
  /** BCP 47, if the shop states one. */
  readonly language: string | null
  readonly published_products_count: number | null
  readonly published_collections_count: number | null
}

const codeOf = (what: string, shape: RegExp): Type<string> => ({
  what,
  read: (value) => {
    const code = tidied(value)
    return typeof value === "string" && code !== null && shape.test(code) ? code : undefined
  }
})
const currencyCode = codeOf("ISO 4217 code", /^[A-Z]{3}$/)
const countryCode = codeOf("ISO 3166-1 alpha-2 code", /^[A-Z]{2}$/)
const language = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/

/** From 0: a shop that lists nothing reports 0. */
const total: Type<number> = {
  what: "number of entries",
  read: (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : undefined
}

const ofShops = ["id", "name", "domain", "myshopify_domain", "currency", "published_products_count"]

const factsIn = (meta: JsonObject): StoreMeta => {
  const fields = new Fields(new Judged())
  const textOf = (key: string) => {
    const stated = fields.read(key, meta[key], text)
    return stated?.includes(notText) ? null : stated
  }
  const written = fields.read("language", meta.language ?? meta.locale, text)
  return {
    platform_shop_id: fields.read("id", meta.id, id),
    name: textOf("name"),
    description: textOf("description"),
    url: fields.read("url", meta.url, address),
    domain: textOf("domain")?.toLowerCase() ?? null,
    myshopify_domain: textOf("myshopify_domain")?.toLowerCase() ?? null,
    currency: fields.read("currency", meta.currency, currencyCode),
    country: fields.read("country", meta.country, countryCode),
    province: textOf("province"),
    city: textOf("city"),
    language: written !== null && language.test(written) ? written : null,
    published_products_count: fields.read("published_products_count", meta.published_products_count, total),
    published_collections_count: fields.read("published_collections_count", meta.published_collections_count, total)
  }
}

/** `/meta.json`. Fails with `UnexpectedAnswer`, of kind `mistyped` if one of its fields has another type. */
export const readMeta = (answer: string): StoreMeta => {
  const meta = parseAnswer(answer)
  if (!isObject(meta) || ofShops.every((key) => meta[key] === undefined)) throw misfit(meta, "description of a shop")
  try {
    return factsIn(meta)
  } catch (cause) {
    throw cause instanceof Unusable ? new UnexpectedAnswer("mistyped", cause.message) : cause
  }
}
