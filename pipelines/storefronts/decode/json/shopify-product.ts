/**
 * Reads a product of the list of a Shopify storefront, with its variants and pictures. Its prices name no currency.
 *
 * `updated_at` of products and variants is never read: it is the time of the response.
 */

import { isObject, type JsonObject } from "../answers.ts"
import type { ImageRow, VariantRow } from "../feed.ts"
import { idOf, type ProductFound, Unusable } from "../page.ts"
import {
  address,
  body,
  count,
  Fields,
  flag,
  grams,
  id,
  type Judged,
  list,
  object,
  price,
  text,
  time
} from "../stated.ts"
import { formerPrice } from "../texts.ts"

/** Shopify's placeholder for a product without options is not an option. */
const unlessPlaceholder = (option: string | null) => (option === "Default Title" ? null : option)

/** Pictures in the order of their positions, and for each variant the first picture that names it. */
const picturesOf = (product: JsonObject, product_native_id: string, judged: Judged) => {
  const ofVariant = new Map<string, string>()
  const images: Array<ImageRow> = []
  for (const [index, image] of new Fields(judged).objects("images", product.images).entries()) {
    const fields = new Fields(judged, "picture", index + 1)
    const src = fields.read("src", image.src, address)
    const position = fields.read("position", image.position, count) ?? index + 1
    const width = fields.read("width", image.width, count)
    const height = fields.read("height", image.height, count)
    const variants = fields.read("variant_ids", image.variant_ids, list) ?? []
    if (src === null) continue
    images.push({ product_native_id, position, src, width, height })
    for (const named of variants) {
      const variant = fields.read("variant_ids", named, id)
      if (variant !== null && !ofVariant.has(variant)) ofVariant.set(variant, src)
    }
  }
  return { images: images.sort((a, b) => a.position - b.position), ofVariant }
}

/** Tags come as a list, or as a text with commas; each is kept once. */
const tagsOf = ({ tags }: JsonObject, fields: Fields): ReadonlyArray<string> => {
  const stated = typeof tags === "string" ? tags.split(",") : (fields.read("tags", tags, list) ?? [])
  return [...new Set(stated.map((tag) => fields.read("tags", tag, text)).filter((tag) => tag !== null))]
}

const variantOf = (variant: unknown, product_native_id: string, number: number, judged: Judged): VariantRow => {
  const native_id = isObject(variant) ? idOf(variant.id) : null
  if (!isObject(variant) || native_id === null) throw new Unusable(`its variant ${number} has no id`)
  const fields = new Fields(judged, "variant", number)
  // null is a price that the shop does not state; without the field this is another kind of answer
  if (variant.price === undefined) fields.refuse("price", "is missing")
  const own = fields.read("price", variant.price, price)
  const featured = fields.read("featured_image", variant.featured_image, object)
  return {
    product_native_id,
    native_id,
    title: fields.read("title", variant.title, text) ?? "Default Title",
    sku: fields.read("sku", variant.sku, text),
    barcode: fields.read("barcode", variant.barcode, text),
    price: own,
    compare_at_price: formerPrice(fields.read("compare_at_price", variant.compare_at_price, price), own),
    currency: null,
    grams: fields.read("grams", variant.grams, grams),
    available: fields.read("available", variant.available, flag),
    option1: unlessPlaceholder(fields.read("option1", variant.option1, text)),
    option2: unlessPlaceholder(fields.read("option2", variant.option2, text)),
    option3: unlessPlaceholder(fields.read("option3", variant.option3, text)),
    position: fields.read("position", variant.position, count) ?? number,
    image_src: featured === null ? null : fields.read("featured_image", featured.src, address),
    requires_shipping: fields.read("requires_shipping", variant.requires_shipping, flag)
  }
}

const variantsOf = (product: JsonObject, product_native_id: string, judged: Judged) => {
  if (!Array.isArray(product.variants)) throw new Unusable("it has no list of variants")
  return unpriceZeroes(
    product.variants.map((variant: unknown, index) => variantOf(variant, product_native_id, index + 1, judged))
  )
}

/** 0 beside a price above 0 means "no price yet"; if all are 0, it is a price. */
const unpriceZeroes = (variants: ReadonlyArray<VariantRow>): ReadonlyArray<VariantRow> =>
  variants.some(({ price }) => price !== null && price !== "0")
    ? variants.map((variant) => (variant.price === "0" ? { ...variant, price: null, compare_at_price: null } : variant))
    : variants

/** Fails with `Unusable`. */
export const productOf = (product: JsonObject, native_id: string, judged: Judged): ProductFound => {
  const fields = new Fields(judged)
  const title = fields.read("title", product.title, text)
  if (title === null) throw new Unusable("it has no title")
  const { images, ofVariant } = picturesOf(product, native_id, judged)
  return {
    product: {
      native_id,
      title,
      handle: fields.read("handle", product.handle, text),
      vendor: fields.read("vendor", product.vendor, text),
      product_type: fields.read("product_type", product.product_type, text),
      stated_category: null,
      tags: tagsOf(product, fields),
      body_text: fields.read("body_html", product.body_html, body),
      published_at: fields.read("published_at", product.published_at, time),
      created_at: fields.read("created_at", product.created_at, time),
      is_published: true
    },
    variants: variantsOf(product, native_id, judged).map((variant) =>
      variant.image_src === null ? { ...variant, image_src: ofVariant.get(variant.native_id) ?? null } : variant
    ),
    images
  }
}
