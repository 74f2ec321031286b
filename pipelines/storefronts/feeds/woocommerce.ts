/**
 * What the Store API of WooCommerce answers at `/wp-json/wc/store/v1/products`. Prices are whole numbers of the smallest unit,
 * of a currency that each row names. A product is one variant: prices and stock of its variations are not in this answer.
 * Weights are in a unit that the payload does not name, so they are left out.
 */
import type { ImageRow } from "../feed.ts"
import { isObject, type JsonObject, misfit, objectsOf, parseAnswer, refuseEndless, shownJson } from "./answers.ts"
import { htmlToLine, htmlToText } from "./html-text.ts"
import { type Page, type ProductFound, pageOfProducts, Unusable } from "./page.ts"
import { listUpTo, mostPictures, mostTags } from "./product-lists.ts"
import { formerPrice, fromMinorUnits, tidied, webAddress } from "./texts.ts"

const decoded = (escapes: string) => {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes // bytes that are no UTF-8 stay as they came
  }
}

/** Slugs are percent-encoded in lower case. What is no such sequence stays. */
const decodeSlug = (value: unknown): string | null => {
  const slug = tidied(value)
  return slug === null ? null : tidied(slug.replace(/(?:%[0-9a-f]{2})+/gi, decoded))
}

const namesOf = (product: JsonObject, key: "brands" | "categories" | "tags"): ReadonlyArray<string> => {
  const names = objectsOf(listUpTo(mostTags, product[key], key)).map((term) => htmlToLine(term.name))
  return [...new Set(names.filter((name) => name !== null))]
}

const currencyOf = (value: unknown): string | null => {
  const code = tidied(value)?.toUpperCase() ?? ""
  return /^[A-Z]{3}$/.test(code) ? code : null
}

/** A product without a price has "" here. What is stated has to be a price. */
const amountOf = (prices: JsonObject, key: string): string | null => {
  const stated = tidied(prices[key])
  if (stated === null) return null
  const unit = prices.currency_minor_unit
  const amount = fromMinorUnits(stated, typeof unit === "number" ? unit : Number.NaN)
  if (amount !== null) return amount
  const units = `${shownJson(stated).slice(0, 100)} in units of 10^-${shownJson(unit).slice(0, 20)}`
  throw new Unusable(`its ${key} is ${units}, which is no price`)
}

const imagesOf = (product: JsonObject, product_native_id: string): ReadonlyArray<ImageRow> =>
  objectsOf(listUpTo(mostPictures, product.images, "pictures")).flatMap((image, index) => {
    const src = webAddress(image.src)
    return src === null ? [] : [{ product_native_id, position: index + 1, src, width: null, height: null }]
  })

const productOf = (product: JsonObject, native_id: string): ProductFound => {
  const title = htmlToLine(product.name)
  if (title === null) throw new Unusable("it has no name")
  const prices = isObject(product.prices) ? product.prices : {}
  const price = amountOf(prices, "price")
  const isInStock = product.is_in_stock
  return {
    product: {
      native_id,
      title,
      handle: decodeSlug(product.slug),
      vendor: namesOf(product, "brands")[0] ?? null,
      product_type: namesOf(product, "categories")[0] ?? null,
      stated_category: null,
      tags: namesOf(product, "tags"),
      body_text: htmlToText(product.description) ?? htmlToText(product.short_description),
      published_at: null,
      created_at: null,
      is_published: true
    },
    variants: [
      {
        product_native_id: native_id,
        native_id,
        title,
        sku: tidied(product.sku),
        barcode: null,
        price,
        compare_at_price: formerPrice(amountOf(prices, "regular_price"), price),
        currency: currencyOf(prices.currency_code),
        grams: null,
        available: typeof isInStock === "boolean" ? isInStock : null,
        option1: null,
        option2: null,
        option3: null,
        position: 1,
        image_src: null,
        requires_shipping: null
      }
    ],
    images: imagesOf(product, native_id)
  }
}

/** A page of products. Fails with `UnexpectedAnswer`. */
export const readProducts = (text: string): Page => {
  const answer = parseAnswer(text)
  if (!Array.isArray(answer)) throw misfit(answer, "array of products")
  refuseEndless(answer, "products")
  return pageOfProducts(answer, productOf)
}
