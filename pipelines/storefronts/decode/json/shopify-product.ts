/**
 * Reads a product of a Shopify storefront, with its variants and pictures. The prices have no currency. `updated_at` of
 * products and variants is never read, because it is the time of the response.
 */
import type { ParsedRow } from "../batch-builder.ts"
import type { FeedImage, FeedVariant } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import type { FeedStats } from "../feed-stats.ts"
import { shopifyRoles } from "../field-roles.ts"
import { types } from "../field-types.ts"
import { isObject, type JsonObject } from "../responses.ts"
import { dropLowerPrice, parseId } from "../texts.ts"
import { Fields } from "../typed-fields.ts"

/** Shopify's placeholder for a product without options is not an option. */
const dropPlaceholder = (option: string | null) => (option === "Default Title" ? null : option)

/** Pictures in the order of their positions, and for each variant the first picture that names it. */
const readPictures = (product: JsonObject, product_native_id: string, stats: FeedStats) => {
  const srcByVariant = new Map<string, string>()
  const images: Array<FeedImage> = []
  for (const [index, image] of new Fields(stats, shopifyRoles.product)
    .readObjects("images", product.images)
    .entries()) {
    const fields = new Fields(stats, shopifyRoles.picture, "picture", index + 1)
    const src = fields.read("src", image.src, types.address)
    const position = fields.read("position", image.position, types.count) ?? index + 1
    const width = fields.read("width", image.width, types.count)
    const height = fields.read("height", image.height, types.count)
    const variants = fields.read("variant_ids", image.variant_ids, types.list) ?? []
    if (src === null) continue
    images.push({ product_native_id, position, src, width, height })
    for (const variantId of variants) {
      const variant = fields.read("variant_ids", variantId, types.id)
      if (variant !== null && !srcByVariant.has(variant)) srcByVariant.set(variant, src)
    }
  }
  return { images: images.sort((a, b) => a.position - b.position), srcByVariant }
}

/** Tags are a list, or a string with commas; each is kept once. */
const readTags = ({ tags }: JsonObject, fields: Fields<"tags">): ReadonlyArray<string> => {
  const entries = typeof tags === "string" ? tags.split(",") : (fields.read("tags", tags, types.list) ?? [])
  return [...new Set(entries.map((tag) => fields.read("tags", tag, types.text)).filter((tag) => tag !== null))]
}

const readVariant = (variant: unknown, product_native_id: string, number: number, stats: FeedStats): FeedVariant => {
  const native_id = isObject(variant) ? parseId(variant.id) : null
  if (!isObject(variant) || native_id === null) throw new UnusableRow(`its variant ${number} has no id`)
  const fields = new Fields(stats, shopifyRoles.variant, "variant", number)
  // null is a price that the shop does not state; without the field this is another kind of response
  if (variant.price === undefined) fields.reject("price", "is missing")
  const price = fields.read("price", variant.price, types.price)
  const featured = fields.read("featured_image", variant.featured_image, types.object)
  return {
    product_native_id,
    native_id,
    title: fields.read("title", variant.title, types.text) ?? "Default Title",
    sku: fields.read("sku", variant.sku, types.code),
    barcode: fields.read("barcode", variant.barcode, types.barcode),
    price,
    compare_at_price: dropLowerPrice(fields.read("compare_at_price", variant.compare_at_price, types.price), price),
    currency: null,
    grams: fields.read("grams", variant.grams, types.grams),
    available: fields.read("available", variant.available, types.boolean),
    option1: dropPlaceholder(fields.read("option1", variant.option1, types.text)),
    option2: dropPlaceholder(fields.read("option2", variant.option2, types.text)),
    option3: dropPlaceholder(fields.read("option3", variant.option3, types.text)),
    position: fields.read("position", variant.position, types.count) ?? number,
    image_src: featured === null ? null : fields.read("featured_image", featured.src, types.address),
    requires_shipping: fields.read("requires_shipping", variant.requires_shipping, types.boolean)
  }
}

const readVariants = (product: JsonObject, product_native_id: string, stats: FeedStats) => {
  const fields = new Fields(stats, shopifyRoles.product)
  const variants = fields.read("variants", product.variants, types.list, "variants field")
  if (variants === null) throw new UnusableRow("it has no list of variants")
  return variants.map((variant, index) => readVariant(variant, product_native_id, index + 1, stats))
}

export const readProduct = (product: JsonObject, native_id: string, stats: FeedStats): ParsedRow => {
  const fields = new Fields(stats, shopifyRoles.product)
  const title = fields.read("title", product.title, types.text)
  if (title === null) throw new UnusableRow("it has no title")
  const { images, srcByVariant } = readPictures(product, native_id, stats)
  return {
    product: {
      native_id,
      title,
      handle: fields.read("handle", product.handle, types.text),
      vendor: fields.read("vendor", product.vendor, types.text),
      product_type: fields.read("product_type", product.product_type, types.text),
      stated_category: null,
      tags: readTags(product, fields),
      body_text: fields.read("body_html", product.body_html, types.body),
      published_at: fields.read("published_at", product.published_at, types.time),
      created_at: fields.read("created_at", product.created_at, types.time),
      is_published: true
    },
    variants: readVariants(product, native_id, stats).map((variant) =>
      variant.image_src === null ? { ...variant, image_src: srcByVariant.get(variant.native_id) ?? null } : variant
    ),
    images
  }
}
