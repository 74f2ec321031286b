/**
 * Reads the answers of WooCommerce's Store API at `/wp-json/wc/store/v1/products`. Prices are whole numbers in the
 * smallest unit of a currency that each row names. A product becomes one variant: the answer has no prices and no stock
 * of its variations, only the range of their prices. Weights are left out, because the payload does not name their
 * unit.
 */

import {
  isObject,
  type JsonObject,
  misfit,
  parseAnswer,
  refuseEndless,
  shownJson,
  UnexpectedAnswer
} from "../answers.ts"
import type { ImageRow } from "../feed.ts"
import { type Page, type ProductFound, pageOfProducts, Unusable } from "../page.ts"
import { notText } from "../payload-text.ts"
import { address, body, Fields, flag, Judged, line, object, type Type, text } from "../stated.ts"
import { compareDecimals, formerPrice, fromMinorUnits, tidied } from "../texts.ts"

const decoded = (escapes: string) => {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes // bytes that are not UTF-8 stay as they are
  }
}

/** Slugs are percent-encoded in lower case. Any other text stays. */
const decodeSlug = (slug: string | null): string | null =>
  slug === null ? null : tidied(slug.replace(/(?:%[0-9a-f]{2})+/gi, decoded))

const namesOf = (product: JsonObject, key: "brands" | "categories" | "tags", judged: Judged): ReadonlyArray<string> => {
  const terms = new Fields(judged).objects(key, product[key])
  const names = terms.map((term, index) => new Fields(judged, key, index + 1).read("name", term.name, line))
  return [...new Set(names.filter((name) => name !== null))]
}

const currency: Type<string> = {
  what: "ISO 4217 code",
  read: (value) => {
    const code = tidied(value)?.toUpperCase() ?? ""
    return typeof value === "string" && /^[A-Z]{3}$/.test(code) ? code : undefined
  }
}

/** A whole number in the smallest unit. */
const amountIn = (unit: unknown): Type<string> => ({
  what: `price in units of 10^-${shownJson(unit).slice(0, 20)}`,
  read: (value) => fromMinorUnits(value, typeof unit === "number" ? unit : Number.NaN) ?? undefined
})

const imagesOf = (product: JsonObject, product_native_id: string, judged: Judged): ReadonlyArray<ImageRow> =>
  new Fields(judged).objects("images", product.images).flatMap((image, index) => {
    const src = new Fields(judged, "picture", index + 1).read("src", image.src, address)
    return src === null ? [] : [{ product_native_id, position: index + 1, src, width: null, height: null }]
  })

const pricesOf = (product: JsonObject, fields: Fields) => {
  // null, and "" in its fields, are prices that the shop does not state; without the field this is another kind of answer
  if (product.prices === undefined) fields.refuse("prices", "are missing")
  const prices = fields.read("prices", product.prices, object)
  if (prices === null) return { price_range: null, price: null, compare_at_price: null, currency: null }
  if (prices.price === undefined) fields.refuse("price", "is missing")
  const amount = amountIn(prices.currency_minor_unit)
  const own = fields.read("price", prices.price, amount)
  const stated = fields.read("price_range", prices.price_range, object)
  const [min, max] = [stated?.min_amount, stated?.max_amount].map((end) => fields.read("price_range", end, amount))
  const price_range = typeof min === "string" && typeof max === "string" ? { min, max } : null
  if (price_range !== null && compareDecimals(price_range.min, price_range.max) > 0) {
    fields.refuse("price_range", `goes from ${price_range.min} down to ${price_range.max}`)
  }
  return {
    price_range,
    price: own ?? price_range?.min ?? null,
    compare_at_price: formerPrice(fields.read("regular_price", prices.regular_price, amount), own),
    currency: fields.read("currency_code", prices.currency_code, currency)
  }
}

const productOf = (product: JsonObject, native_id: string, judged: Judged): ProductFound => {
  const fields = new Fields(judged)
  const title = fields.read("name", product.name, line)
  if (title === null) throw new Unusable("it has no name")
  const { price_range, ...prices } = pricesOf(product, fields)
  return {
    product: {
      native_id,
      title,
      handle: decodeSlug(fields.read("slug", product.slug, text)),
      vendor: namesOf(product, "brands", judged)[0] ?? null,
      product_type: namesOf(product, "categories", judged)[0] ?? null,
      stated_category: null,
      tags: namesOf(product, "tags", judged),
      body_text:
        fields.read("description", product.description, body) ??
        fields.read("short_description", product.short_description, body),
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
        sku: fields.read("sku", product.sku, text),
        barcode: null,
        ...prices,
        grams: null,
        available: fields.read("is_in_stock", product.is_in_stock, flag),
        option1: null,
        option2: null,
        option3: null,
        position: 1,
        image_src: null,
        requires_shipping: null
      }
    ],
    images: imagesOf(product, native_id, judged)
  }
}

/** Whether it is an entry of the admin API, which has private products and drafts, and neither currency nor unit. */
const isOfAdmin = (entry: unknown) =>
  isObject(entry) &&
  entry.prices === undefined &&
  ["status", "date_created", "catalog_visibility", "regular_price"].some((key) => entry[key] !== undefined)

const refuseAdmin = (entries: ReadonlyArray<unknown>) => {
  const place = entries.findIndex(isOfAdmin)
  if (place === -1) return
  const problem = `products as the REST API wc/v3 of WooCommerce gives them to administrators (number ${place + 1} has its fields), which include private ones and drafts; what is read is the Store API, wc/store/v1`
  throw new UnexpectedAnswer("other shape", problem)
}

/** A page of products. Fails with `UnexpectedAnswer`. */
export const readWooCommerceProducts = (page: string, judged = new Judged()): Page => {
  const answer = parseAnswer(page)
  if (!Array.isArray(answer)) throw misfit(answer, "array of products")
  refuseEndless(answer, "products")
  refuseAdmin(answer)
  return pageOfProducts({ entries: answer, isTorn: page.includes(notText) }, judged, productOf)
}
