/**
 * Limits the length of names, labels and codes: some feeds put a whole page into a title, or all their data into tags.
 * Longer texts are truncated and reported.
 */
import type { Batch, FeedCollection, FeedProduct, FeedVariant } from "./feed.ts"

/** Shopify and Google accept names of 150 to 255 characters, product types of 750; Shopify 250 tags of 255 each. */
const maxName = 1000
const maxPath = 2000
const maxTagLength = 255
const maxTags = 250
/** Characters of a truncated text that its reject shows. */
const maxShown = 1000

type Limits<Row> = ReadonlyArray<readonly [keyof Row & string, number]>

const productLimits: Limits<FeedProduct> = [
  ["title", maxName],
  ["handle", maxName],
  ["vendor", maxName],
  ["product_type", maxPath],
  ["stated_category", maxPath]
]
const variantLimits: Limits<FeedVariant> = [
  ["title", maxName],
  ["sku", maxName],
  ["barcode", maxName],
  ["option1", maxName],
  ["option2", maxName],
  ["option3", maxName]
]
const collectionLimits: Limits<FeedCollection> = [
  ["title", maxName],
  ["handle", maxName]
]

export interface Truncation {
  readonly native_id: string
  readonly field: string
  readonly characters: number
  readonly beginning: string
}

/** Never splits the halves of a surrogate pair. */
const truncate = (text: string, maxLength: number) =>
  text
    .slice(0, maxLength)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd()

const makeTruncation = (native_id: string, field: string, text: string): Truncation => ({
  native_id,
  field,
  characters: text.length,
  beginning: truncate(text, maxShown)
})

const shortenRow = <Row extends { readonly native_id: string }>(
  row: Row,
  limits: Limits<Row>,
  truncations: Array<Truncation>
): Row => {
  let short = row
  for (const [field, maxLength] of limits) {
    const text = row[field]
    if (typeof text !== "string" || text.length <= maxLength) continue
    truncations.push(makeTruncation(row.native_id, field, text))
    short = { ...short, [field]: truncate(text, maxLength) }
  }
  return short
}

const shortenTags = (product: FeedProduct, truncations: Array<Truncation>): FeedProduct => {
  const long = product.tags.find((tag) => tag.length > maxTagLength)
  const hasTooManyTags = product.tags.length > maxTags
  if (long === undefined && !hasTooManyTags) return product
  truncations.push(makeTruncation(product.native_id, "tags", hasTooManyTags ? product.tags.join(", ") : (long ?? "")))
  const tags = product.tags.slice(0, maxTags).map((tag) => truncate(tag, maxTagLength))
  return { ...product, tags: [...new Set(tags)] }
}

export const shortenTexts = (batch: Batch) => {
  const truncations: Array<Truncation> = []
  const products = batch.products.map((row) => shortenTags(shortenRow(row, productLimits, truncations), truncations))
  const variants = batch.variants.map((row) => shortenRow(row, variantLimits, truncations))
  const collections = batch.collections.map((row) => shortenRow(row, collectionLimits, truncations))
  if (truncations.length === 0) return { batch, truncations }
  return { batch: { ...batch, products, variants, collections }, truncations }
}
