/**
 * Turns an item of a Google feed into a variant of the product that `item_group_id` names, or of a product of its own.
 * Items of one group may be far apart, and each states the whole product; the first one counts.
 *
 * `sale_price_effective_date` is ignored: a feed that is read again later must give the same rows, so a stated sale
 * always counts. `condition`, `mpn` and custom labels are left out.
 */
import { preferredStatement, readStatement } from "../../normalise/category/taxonomy.ts"
import type { RowFound } from "../csv/batching.ts"
import type { ImageRow } from "../feed.ts"
import { htmlToLine, htmlToText } from "../html-text.ts"
import { Unusable } from "../page.ts"
import { type Judged, Fields as Stated, type Type } from "../stated.ts"
import { compareDecimals, tidied, webAddress } from "../texts.ts"
import { type FieldValues, fieldNames } from "./fields.ts"
import { gramsOf, type Money, moneyOf } from "./prices.ts"

export interface ItemFound {
  readonly fields: FieldValues
  /** Number of the item, or line of the record, from 1. */
  readonly position: number
  /** That of the store list. */
  readonly currency: string | null
  readonly judged: Judged
}

/** Positions for the pictures of one item, so that items of one product do not share any. Google accepts 11 an item. */
const placesPerItem = 100

const amount: Type<Money> = { what: "amount of a currency", read: (value) => moneyOf(tidied(value) ?? "") ?? undefined }

/** A lower sale price becomes the price, and the price becomes the former price. A sale price of 0 is no sale. */
const pricesOf = (fields: FieldValues, stated: Stated) => {
  const price = stated.read("price", tidied(fields("price")[0]), amount)
  const sale = stated.read("sale_price", tidied(fields("sale_price")[0]), amount)
  if (sale === null || sale.amount === "0") return { price, former: null }
  if (price === null) return { price: sale, former: null }
  const isSameCurrency = sale.currency === null || price.currency === null || sale.currency === price.currency
  const isLower = isSameCurrency && compareDecimals(sale.amount, price.amount) < 0
  const currency = price.currency ?? sale.currency
  return isLower ? { price: { amount: sale.amount, currency }, former: price.amount } : { price, former: null }
}

/** Words in use before and after Google introduced underscores, and those of schema.org. */
const availabilities: ReadonlyMap<string, boolean> = new Map([
  ["instock", true],
  ["preorder", true],
  ["backorder", true],
  ["availablefororder", true],
  ["limitedavailability", true],
  ["presale", true],
  ["instoreonly", true],
  ["onlineonly", true],
  ["madetoorder", true],
  ["available", true],
  ["yes", true],
  ["true", true],
  ["outofstock", false],
  ["soldout", false],
  ["discontinued", false],
  ["reserved", false],
  ["unavailable", false],
  ["notavailable", false],
  ["no", false],
  ["false", false]
])
const availability: Type<boolean> = {
  what: "availability",
  read: (value) => {
    const word = String(value)
      .toLowerCase()
      .replace(/^\s*https?:\/\/schema\.org\//, "")
    return availabilities.get(word.replace(/[^a-z]/g, ""))
  }
}
/** A number without a known unit states nothing. */
const weight: Type<number> = {
  what: "weight",
  read: (value) => (/^[+-]?[.\d]/.test(String(value)) ? gramsOf(String(value)) : undefined)
}

/** `/products/bronze-ace?x=1` → `bronze-ace`. A page for all products, such as `product.html?id=1`, has none. */
export const handleOf = (link: string | null): string | null => {
  if (link === null || !URL.canParse(link)) return null
  const { pathname, search } = new URL(link)
  const last = pathname.split("/").findLast((part) => part !== "") ?? ""
  const isScript = /\.(?:html?|php|aspx?|jsp)$/i.test(last)
  if (isScript && search !== "") return null
  const name = last.replace(/\.(?:html?|php|aspx?|jsp)$/i, "")
  try {
    return tidied(decodeURIComponent(name))
  } catch {
    return tidied(name) // bytes that are not UTF-8 stay as they are
  }
}

/** A path with tidied parts. Of several product types, the first one counts for Google. */
const pathOf = (stated: string | undefined): string | null =>
  tidied(
    htmlToLine(stated)
      ?.split(">")
      .map(tidied)
      .filter((part) => part !== null)
      .join(" > ")
  )

/** Some feeds state a category of Google's in a field that is not Google's. */
const statedCategory = (fields: FieldValues): string | null => {
  const own = fields("google_product_category").map(pathOf)
  const other = fields("category")
    .map(pathOf)
    .filter((stated) => stated !== null && readStatement(stated) !== undefined)
  return preferredStatement([...own, ...other])
}

const imagesOf = (fields: FieldValues, product_native_id: string, position: number): ReadonlyArray<ImageRow> => {
  const addresses = [...fields("image_link").slice(0, 1), ...fields("additional_image_link")].map(webAddress)
  const different = [...new Set(addresses.filter((address) => address !== null))].slice(0, placesPerItem)
  const from = (position - 1) * placesPerItem + 1
  return different.map((src, place) => ({ product_native_id, position: from + place, src, width: null, height: null }))
}

/** Fails with `Unusable`. */
export const rowOfItem = (item: ItemFound): RowFound => {
  const { fields } = item
  const id = tidied(fields("id")[0])
  if (id === null) throw new Unusable("it has no id")
  const group = tidied(fields("item_group_id")[0])
  const native_id = group ?? id
  try {
    return rowOf(item, id, group)
  } catch (cause) {
    throw cause instanceof Unusable ? new Unusable(cause.message, native_id) : cause
  }
}

const rowOf = ({ currency, fields, judged, position }: ItemFound, id: string, group: string | null): RowFound => {
  const native_id = group ?? id
  const stated = new Stated(judged)
  for (const name of fieldNames) if (fields(name).length > 0) judged.saw(name)
  const title = htmlToLine(fields("title")[0])
  if (title === null) throw new Unusable("it has no title")
  const [option1, option2] = group === null ? [null, null] : [tidied(fields("size")[0]), tidied(fields("color")[0])]
  const { former, price } = pricesOf(fields, stated)
  const images = imagesOf(fields, native_id, position)
  return {
    native_id,
    product: {
      native_id,
      title,
      handle: handleOf(webAddress(fields("link")[0])),
      vendor: htmlToLine(fields("brand")[0]),
      product_type: pathOf(fields("product_type")[0] ?? fields("category")[0]),
      stated_category: statedCategory(fields),
      tags: [],
      body_text: htmlToText(fields("description")[0] ?? fields("summary")[0] ?? fields("content")[0]),
      published_at: null,
      created_at: null,
      is_published: true
    },
    variant: {
      product_native_id: native_id,
      native_id: id,
      title: [option1, option2].filter((option) => option !== null).join(" / ") || title,
      sku: null,
      barcode: tidied(fields("gtin")[0]?.trim().replace(/^'+/, "")),
      price: price?.amount ?? null,
      compare_at_price: former,
      currency: price?.currency ?? currency,
      grams: stated.read("shipping_weight", fields("shipping_weight").map(tidied)[0], weight),
      available: stated.read("availability", fields("availability").map(tidied)[0], availability),
      option1,
      option2,
      option3: null,
      position,
      image_src: webAddress(fields("image_link")[0]),
      requires_shipping: null
    },
    images
  }
}
