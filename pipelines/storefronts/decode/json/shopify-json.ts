/**
 * Reads the responses of a Shopify storefront: `/products.json`, `/collections.json`,
 * `/collections/<handle>/products.json` and `/meta.json`.
 *
 * `products_count` of collections is not read, because it is wrong. Responses of the Admin API are similar and contain
 * drafts, so they are rejected.
 */

import type { FeedCollection } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import { FeedStats } from "../feed-stats.ts"
import { shopifyRoles } from "../field-roles.ts"
import { type FieldType, types } from "../field-types.ts"
import { type FeedPage, type PageEntries, readFeedPage, readMemberPage } from "../page.ts"
import { undecodable } from "../payload-text.ts"
import {
  explainUnexpected,
  isObject,
  type JsonObject,
  parseResponse,
  pickObjects,
  rejectLongList,
  UnexpectedResponse
} from "../responses.ts"
import { normalizeText, parseTime } from "../texts.ts"
import { Fields } from "../typed-fields.ts"
import { readProduct } from "./shopify-product.ts"

const hasAny = (object: JsonObject, keys: ReadonlyArray<string>) => keys.some((key) => object[key] !== undefined)

const isAdminProduct = (product: JsonObject) =>
  hasAny(product, ["admin_graphql_api_id", "status"]) ||
  pickObjects(product.variants).some((variant) =>
    hasAny(variant, ["admin_graphql_api_id", "inventory_item_id", "old_inventory_quantity"])
  )
const isAdminCollection = (collection: JsonObject) =>
  hasAny(collection, ["admin_graphql_api_id", "body_html", "sort_order", "rules"])

const readEntries = (text: string, key: string, isAdminEntry: (entry: JsonObject) => boolean): PageEntries => {
  const response = parseResponse(text)
  const entries = isObject(response) ? response[key] : undefined
  const hasErrors = isObject(response) && response.errors !== undefined
  if (!Array.isArray(entries) || (hasErrors && entries.length === 0))
    throw explainUnexpected(response, `list of ${key}`)
  rejectLongList(entries, key)
  const adminIndex = pickObjects(entries).findIndex(isAdminEntry)
  if (adminIndex === -1) return { entries, hasBadBytes: text.includes(undecodable) }
  const problem = `these are ${key} of the Admin API (number ${adminIndex + 1} has its fields), which include drafts; only those of the storefront are read`
  throw new UnexpectedResponse("other shape", problem)
}

/** A page of `/products.json`. Fails with `UnexpectedResponse`; its kind is `window` after the first 25,000 products. */
export const readShopifyProducts = (response: string, stats = new FeedStats()): FeedPage =>
  readFeedPage(readEntries(response, "products", isAdminProduct), stats, (product, id) =>
    readProduct(product, id, stats)
  )

/** A page of `/collections/<handle>/products.json`: members of a collection, after `offset` of earlier pages. */
export const readMembers = (response: string, collectionNativeId: string, offset: number): FeedPage =>
  readMemberPage(readEntries(response, "products", isAdminProduct).entries, collectionNativeId, offset)

/** If all `updated_at` of a page lie within this span, they are the time of the response, not of changes. */
const responseSpan = 60_000

const areTimesOfResponse = (times: ReadonlyArray<string | null>) => {
  const instants = times.filter((time) => time !== null).map(Date.parse)
  return instants.length > 0 && Math.max(...instants) - Math.min(...instants) < responseSpan
}

const readImage = (value: unknown, stats: FeedStats): FeedCollection["image"] => {
  const image = new Fields(stats, shopifyRoles.collection).read("image", value, types.object)
  if (image === null) return null
  const fields = new Fields(stats, shopifyRoles.picture, "picture", 1)
  const src = fields.read("src", image.src, types.address)
  const width = fields.read("width", image.width, types.count)
  const height = fields.read("height", image.height, types.count)
  return src === null ? null : { src, width, height }
}

export const readCollections = (response: string, stats = new FeedStats()): FeedPage => {
  const entries = readEntries(response, "collections", isAdminCollection)
  const areResponseTimes = areTimesOfResponse(
    pickObjects(entries.entries).map((collection) => parseTime(collection.updated_at))
  )
  return readFeedPage(
    entries,
    stats,
    (collection, native_id) => {
      const fields = new Fields(stats, shopifyRoles.collection)
      const title = fields.read("title", collection.title, types.text)
      const updated_at = fields.read("updated_at", collection.updated_at, types.time)
      if (title === null) throw new UnusableRow("it has no title")
      return {
        collection: {
          native_id,
          title,
          handle: fields.read("handle", collection.handle, types.text),
          description: fields.read("description", collection.description, types.body),
          image: readImage(collection.image, stats),
          published_at: fields.read("published_at", collection.published_at, types.time),
          updated_at: areResponseTimes ? null : updated_at
        }
      }
    },
    "collection"
  )
}

const codeType = (name: string, pattern: RegExp): FieldType<string> => ({
  name,
  read: (value) => {
    const code = normalizeText(value)
    return typeof value === "string" && code !== null && pattern.test(code) ? code : undefined
  }
})
const currencyCode = codeType("an ISO 4217 code", /^[A-Z]{3}$/)
/** NA is Namibia. */
const countryCode: FieldType<string> = {
  ...codeType("an ISO 3166-1 alpha-2 code", /^[A-Z]{2}$/),
  keepsPlaceholders: true
}
const languageTag = codeType("a BCP 47 tag", /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)

/** From 0: a shop that lists nothing reports 0. */
const total: FieldType<number> = {
  name: "a number of entries",
  read: (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : undefined
}

const shopFields = ["id", "name", "domain", "myshopify_domain", "currency", "published_products_count"]

type TextField = "name" | "description" | "domain" | "myshopify_domain" | "province" | "city"

const readShopFields = (meta: JsonObject, stats: FeedStats) => {
  const fields = new Fields(stats, shopifyRoles.shop)
  const readText = (key: TextField) => {
    const text = fields.read(key, meta[key], types.text)
    return text?.includes(undecodable) ? null : text
  }
  return {
    platform_shop_id: fields.read("id", meta.id, types.id),
    name: readText("name"),
    description: readText("description"),
    url: fields.read("url", meta.url, types.address),
    domain: readText("domain")?.toLowerCase() ?? null,
    myshopify_domain: readText("myshopify_domain")?.toLowerCase() ?? null,
    // with markets, `/products.json` may have another currency
    currency: fields.read("currency", meta.currency, currencyCode),
    // the country of the account's address, which may differ from the shop's
    country: fields.read("country", meta.country, countryCode),
    province: readText("province"),
    city: readText("city"),
    language: fields.read("language", meta.language ?? meta.locale, languageTag),
    published_products_count: fields.read("published_products_count", meta.published_products_count, total),
    published_collections_count: fields.read("published_collections_count", meta.published_collections_count, total)
  }
}

/** The facts that a shop states about itself; null for those that it does not state. */
export type StoreMeta = ReturnType<typeof readShopFields>

/** `/meta.json`. Fails with `UnexpectedResponse`, of kind `mistyped` if one of its substances has another type. */
export const readMeta = (response: string, stats = new FeedStats()): StoreMeta => {
  const meta = parseResponse(response)
  if (!isObject(meta) || shopFields.every((key) => meta[key] === undefined))
    throw explainUnexpected(meta, "description of a shop")
  try {
    return readShopFields(meta, stats)
  } catch (cause) {
    throw cause instanceof UnusableRow ? new UnexpectedResponse("mistyped", cause.message) : cause
  }
}
