/**
 * Limits the length of names, labels and codes. Some feeds put a whole page into a title, or everything they know into
 * tags. Text beyond these limits is cut off and reported, so that no table and no reader has to expect it.
 */
import type { Batch, CollectionRow, ProductRow, VariantRow } from "./feed.ts"

/** Shopify and Google accept names of 150 to 255 characters, product types of 750; Shopify 250 tags of 255 each. */
const mostOfName = 1000
const mostOfPath = 2000
const mostOfTag = 255
const mostTags = 250
/** Characters that are shown of a text that was cut. */
const shown = 1000

type Bounds<Row> = ReadonlyArray<readonly [keyof Row & string, number]>

const ofProducts: Bounds<ProductRow> = [
  ["title", mostOfName],
  ["handle", mostOfName],
  ["vendor", mostOfName],
  ["product_type", mostOfPath],
  ["stated_category", mostOfPath]
]
const ofVariants: Bounds<VariantRow> = [
  ["title", mostOfName],
  ["sku", mostOfName],
  ["barcode", mostOfName],
  ["option1", mostOfName],
  ["option2", mostOfName],
  ["option3", mostOfName]
]
const ofCollections: Bounds<CollectionRow> = [
  ["title", mostOfName],
  ["handle", mostOfName]
]

/** A text that was cut. */
export interface Cut {
  /** Of the product, the variant or the collection. */
  readonly native_id: string
  readonly field: string
  /** Before it was cut. */
  readonly characters: number
  readonly beginning: string
}

/** Never cuts between the halves of a surrogate pair. */
const beginningOf = (text: string, most: number) =>
  text
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd()

const cutOf = (native_id: string, field: string, text: string): Cut => ({
  native_id,
  field,
  characters: text.length,
  beginning: beginningOf(text, shown)
})

const shortenedRow = <Row extends { readonly native_id: string }>(
  row: Row,
  bounds: Bounds<Row>,
  cuts: Array<Cut>
): Row => {
  let short = row
  for (const [field, most] of bounds) {
    const text = row[field]
    if (typeof text !== "string" || text.length <= most) continue
    cuts.push(cutOf(row.native_id, field, text))
    short = { ...short, [field]: beginningOf(text, most) }
  }
  return short
}

const withShortTags = (product: ProductRow, cuts: Array<Cut>): ProductRow => {
  const long = product.tags.find((tag) => tag.length > mostOfTag)
  const isCrowded = product.tags.length > mostTags
  if (long === undefined && !isCrowded) return product
  cuts.push(cutOf(product.native_id, "tags", isCrowded ? product.tags.join(", ") : (long ?? "")))
  const tags = product.tags.slice(0, mostTags).map((tag) => beginningOf(tag, mostOfTag))
  return { ...product, tags: [...new Set(tags)] }
}

/** The same rows with oversized texts cut, and a list of these texts. */
export const shortened = (batch: Batch): { readonly batch: Batch; readonly cuts: ReadonlyArray<Cut> } => {
  const cuts: Array<Cut> = []
  const products = batch.products.map((row) => withShortTags(shortenedRow(row, ofProducts, cuts), cuts))
  const variants = batch.variants.map((row) => shortenedRow(row, ofVariants, cuts))
  const collections = batch.collections.map((row) => shortenedRow(row, ofCollections, cuts))
  return cuts.length === 0 ? { batch, cuts } : { batch: { ...batch, products, variants, collections }, cuts }
}
