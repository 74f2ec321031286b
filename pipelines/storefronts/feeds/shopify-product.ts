/**
 * A product as the list of a Shopify storefront has it, with its variants and pictures. Its prices name no currency.
 *
 * `updated_at` of products and variants is never read: it is the time of the response.
 */
import type { ImageRow, VariantRow } from "../feed.ts"
import { isObject, type JsonObject, listOf, objectsOf, shownJson } from "./answers.ts"
import { htmlToText } from "./html-text.ts"
import { countOf, idOf, type ProductFound, Unusable } from "./page.ts"
import { listUpTo, mostPictures, mostVariants, tagsOf } from "./product-lists.ts"
import { decimalText, formerPrice, tidied, utcTime, webAddress } from "./texts.ts"

/** An option that has only this value is none: Shopify's placeholder for a product without options. */
const optionOf = (value: unknown): string | null => {
  const text = tidied(value)
  return text === "Default Title" ? null : text
}

const gramsOf = (value: unknown): number | null => {
  const grams = decimalText(value)
  return grams === null || grams === "0" ? null : Number(grams)
}

const booleanOf = (value: unknown): boolean | null => (typeof value === "boolean" ? value : null)

const positionOf = (object: JsonObject, index: number) => countOf(object.position) ?? index + 1

/** What is stated has to be a price: a product whose price cannot be read is better rejected than shown without one. */
const priceOf = (variant: JsonObject, key: string, number: number): string | null => {
  const stated = tidied(variant[key])
  const price = decimalText(stated)
  if (stated !== null && price === null) {
    throw new Unusable(`the ${key} of its variant ${number} is ${shownJson(stated).slice(0, 100)}, which is no price`)
  }
  return price
}

/** Pictures by their position, and of each variant the first that names it. */
const picturesOf = (product: JsonObject, product_native_id: string) => {
  const ofVariant = new Map<string, string>()
  const images: Array<ImageRow> = []
  for (const [index, image] of objectsOf(listUpTo(mostPictures, product.images, "pictures")).entries()) {
    const src = webAddress(image.src)
    if (src === null) continue
    const position = positionOf(image, index)
    images.push({ product_native_id, position, src, width: countOf(image.width), height: countOf(image.height) })
    for (const id of listOf(image.variant_ids).slice(0, mostVariants).map(idOf)) {
      if (id !== null && !ofVariant.has(id)) ofVariant.set(id, src)
    }
  }
  return { images: images.sort((a, b) => a.position - b.position), ofVariant }
}

const variantsOf = (product: JsonObject, product_native_id: string, imageOf: ReadonlyMap<string, string>) => {
  const stated = product.variants
  if (!Array.isArray(stated)) throw new Unusable("it has no list of variants")
  const variants = listUpTo(mostVariants, stated, "variants").map((variant: unknown, index): VariantRow => {
    const native_id = isObject(variant) ? idOf(variant.id) : null
    if (!isObject(variant) || native_id === null) throw new Unusable(`its variant ${index + 1} has no id`)
    const price = priceOf(variant, "price", index + 1)
    const featured = variant.featured_image
    return {
      product_native_id,
      native_id,
      title: tidied(variant.title) ?? "Default Title",
      sku: tidied(variant.sku),
      barcode: tidied(variant.barcode),
      price,
      compare_at_price: formerPrice(priceOf(variant, "compare_at_price", index + 1), price),
      currency: null,
      grams: gramsOf(variant.grams),
      available: booleanOf(variant.available),
      option1: optionOf(variant.option1),
      option2: optionOf(variant.option2),
      option3: optionOf(variant.option3),
      position: positionOf(variant, index),
      image_src: (isObject(featured) ? webAddress(featured.src) : null) ?? imageOf.get(native_id) ?? null,
      requires_shipping: booleanOf(variant.requires_shipping)
    }
  })
  return unpriceZeroes(variants)
}

/** 0 beside a price above 0 stands for "no price yet"; where all are 0 it is one. */
const unpriceZeroes = (variants: ReadonlyArray<VariantRow>): ReadonlyArray<VariantRow> =>
  variants.some(({ price }) => price !== null && price !== "0")
    ? variants.map((variant) => (variant.price === "0" ? { ...variant, price: null, compare_at_price: null } : variant))
    : variants

/** Fails with `Unusable`. */
export const productOf = (product: JsonObject, native_id: string): ProductFound => {
  const title = tidied(product.title)
  if (title === null) throw new Unusable("it has no title")
  const { images, ofVariant } = picturesOf(product, native_id)
  return {
    product: {
      native_id,
      title,
      handle: tidied(product.handle),
      vendor: tidied(product.vendor),
      product_type: tidied(product.product_type),
      stated_category: null,
      tags: tagsOf(product.tags),
      body_text: htmlToText(product.body_html),
      published_at: utcTime(product.published_at),
      created_at: utcTime(product.created_at),
      is_published: true
    },
    variants: variantsOf(product, native_id, ofVariant),
    images
  }
}
