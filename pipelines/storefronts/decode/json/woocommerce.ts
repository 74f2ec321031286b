/**
 * Reads the responses of WooCommerce's Store API at `/wp-json/wc/store/v1/products`. Prices are whole numbers in the
 * smallest unit of a currency that each row names. A product becomes one variant: the response has neither prices nor
 * stock of its variations, only the range of their prices. Weights are omitted, because their unit is not stated.
 */
import type { ParsedRow } from "../batch-builder.ts"
import type { FeedImage } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import { FeedStats } from "../feed-stats.ts"
import { wooCommerceRoles } from "../field-roles.ts"
import { type FieldType, types } from "../field-types.ts"
import { type FeedPage, readFeedPage } from "../page.ts"
import { undecodable } from "../payload-text.ts"
import {
  explainUnexpected,
  formatJson,
  isObject,
  type JsonObject,
  parseResponse,
  rejectLongList,
  UnexpectedResponse
} from "../responses.ts"
import { compareDecimals, dropLowerPrice, normalizeText, parseMinorUnits } from "../texts.ts"
import { Fields } from "../typed-fields.ts"

const decodeEscapes = (escapes: string) => {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes // bytes that are not UTF-8 stay as they are
  }
}

/** Slugs are percent-encoded in lower case. Any other text stays. */
const decodeSlug = (slug: string | null): string | null =>
  slug === null ? null : normalizeText(slug.replace(/(?:%[0-9a-f]{2})+/gi, decodeEscapes))

const readNames = (
  product: JsonObject,
  key: "brands" | "categories" | "tags",
  stats: FeedStats
): ReadonlyArray<string> => {
  const terms = new Fields(stats, wooCommerceRoles.product).readObjects(key, product[key])
  const names = terms.map((term, index) =>
    new Fields(stats, wooCommerceRoles.term, key, index + 1).read("name", term.name, types.line)
  )
  return [...new Set(names.filter((name) => name !== null))]
}

const currency: FieldType<string> = {
  name: "an ISO 4217 code",
  read: (value) => {
    const code = normalizeText(value)?.toUpperCase() ?? ""
    return typeof value === "string" && /^[A-Z]{3}$/.test(code) ? code : undefined
  }
}

const priceType = (unit: unknown): FieldType<string> => ({
  name: `a price in units of 10^-${formatJson(unit).slice(0, 20)}`,
  read: (value) => parseMinorUnits(value, typeof unit === "number" ? unit : Number.NaN) ?? undefined
})

const readImages = (product: JsonObject, product_native_id: string, stats: FeedStats): ReadonlyArray<FeedImage> =>
  new Fields(stats, wooCommerceRoles.product).readObjects("images", product.images).flatMap((image, index) => {
    const fields = new Fields(stats, wooCommerceRoles.picture, "picture", index + 1)
    const src = fields.read("src", image.src, types.address)
    return src === null ? [] : [{ product_native_id, position: index + 1, src, width: null, height: null }]
  })

const readPrices = (product: JsonObject, fields: Fields<keyof typeof wooCommerceRoles.product>) => {
  // null, and "" in its fields, are prices that the shop does not state; without the field this is another kind of response
  if (product.prices === undefined) fields.reject("prices", "are missing")
  const prices = fields.read("prices", product.prices, types.object, "prices field")
  if (prices === null) return { price_range: null, price: null, compare_at_price: null, currency: null }
  if (prices.price === undefined) fields.reject("price", "is missing")
  const amount = priceType(prices.currency_minor_unit)
  const price = fields.read("price", prices.price, amount)
  const range = fields.read("price_range", prices.price_range, types.object)
  const [min, max] = [range?.min_amount, range?.max_amount].map((end) => fields.read("price_range", end, amount))
  const price_range = typeof min === "string" && typeof max === "string" ? { min, max } : null
  if (price_range !== null && compareDecimals(price_range.min, price_range.max) > 0) {
    fields.reject("price_range", `goes from ${price_range.min} down to ${price_range.max}`)
  }
  const code = fields.read("currency_code", prices.currency_code, currency)
  const regular = fields.read("regular_price", prices.regular_price, amount)
  const lowest = price_range?.min ?? price
  const isBuyable = fields.read("is_purchasable", product.is_purchasable, types.boolean) !== false
  // 0 is no price if the product cannot be bought, or if another variation has a price
  if (lowest === "0" && (!isBuyable || (price_range !== null && price_range.max !== "0")))
    return { price_range: null, price: null, compare_at_price: null, currency: code }
  return {
    price_range,
    price: price ?? price_range?.min ?? null,
    compare_at_price: dropLowerPrice(regular, price),
    currency: code
  }
}

const readProduct = (product: JsonObject, native_id: string, stats: FeedStats): ParsedRow => {
  const fields = new Fields(stats, wooCommerceRoles.product)
  const title = fields.read("name", product.name, types.line)
  if (title === null) throw new UnusableRow("it has no name")
  const { price_range, ...prices } = readPrices(product, fields)
  return {
    product: {
      native_id,
      title,
      handle: decodeSlug(fields.read("slug", product.slug, types.text)),
      vendor: readNames(product, "brands", stats)[0] ?? null,
      product_type: readNames(product, "categories", stats)[0] ?? null,
      stated_category: null,
      tags: readNames(product, "tags", stats),
      body_text:
        fields.read("description", product.description, types.body) ??
        fields.read("short_description", product.short_description, types.body),
      published_at: null,
      created_at: null,
      is_published: true,
      ...(price_range === null ? {} : { price_range })
    },
    variants: [
      {
        product_native_id: native_id,
        native_id,
        title,
        sku: fields.read("sku", product.sku, types.code),
        barcode: null,
        ...prices,
        grams: null,
        available: fields.read("is_in_stock", product.is_in_stock, types.boolean),
        option1: null,
        option2: null,
        option3: null,
        position: 1,
        image_src: null,
        requires_shipping: null
      }
    ],
    images: readImages(product, native_id, stats)
  }
}

/** Entries of the API for administrators include private products and drafts, and have neither currency nor unit. */
const isAdminEntry = (entry: unknown) =>
  isObject(entry) &&
  entry.prices === undefined &&
  ["status", "date_created", "catalog_visibility", "regular_price"].some((key) => entry[key] !== undefined)

const rejectAdminEntries = (entries: ReadonlyArray<unknown>) => {
  const index = entries.findIndex(isAdminEntry)
  if (index === -1) return
  const problem = `these are products of the REST API wc/v3 of WooCommerce, which is for administrators (number ${index + 1} has its fields) and includes private ones and drafts; only the Store API, wc/store/v1, is read`
  throw new UnexpectedResponse("other shape", problem)
}

export const readWooCommerceProducts = (page: string, stats = new FeedStats()): FeedPage => {
  const response = parseResponse(page)
  if (!Array.isArray(response)) throw explainUnexpected(response, "array of products")
  rejectLongList(response, "products")
  rejectAdminEntries(response)
  return readFeedPage({ entries: response, hasBadBytes: page.includes(undecodable) }, stats, (product, id) =>
    readProduct(product, id, stats)
  )
}
