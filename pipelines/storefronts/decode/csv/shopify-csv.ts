/**
 * Reads a product export of Shopify, in both layouts: the classic one (`Handle`, `Variant Price`) and the new template
 * (`URL handle`, `Price`). A record contains a product, a variant and a picture, or any of them. The records of a
 * product share its handle and may be far apart. Only the first one has a title and states whether the product is
 * published.
 *
 * Positions are lines of the file; the header is line 1. The export has neither currencies nor times.
 */
import { isPlaceholder } from "../../../run/placeholders.ts"
import { pickStatement } from "../../normalise/category/taxonomy.ts"
import { collectBatches } from "../batch-builder.ts"
import { type FeedImage, type FeedProduct, type FeedVariant, type ReadFile, UnusableRow } from "../feed.ts"
import { shopifyCsvRoles } from "../field-roles.ts"
import { decodePieces } from "../payload-text.ts"
import { dropLowerPrice, normalizeText } from "../texts.ts"
import { FeedStats, Fields, type FieldType, types } from "../typed-fields.ts"
import { type Columns, readTable, type TableFormat } from "./table.ts"
import type { TableRecord } from "./table-records.ts"

/** The names of each column, in lower case. */
export const exportColumns = {
  handle: ["handle", "url handle"],
  title: ["title"],
  body: ["body (html)", "description"],
  vendor: ["vendor"],
  type: ["type", "custom product type"],
  tags: ["tags"],
  published: ["published", "published on online store"],
  status: ["status"],
  option1: ["option1 value"],
  option2: ["option2 value"],
  option3: ["option3 value"],
  sku: ["variant sku", "sku"],
  barcode: ["variant barcode", "barcode"],
  grams: ["variant grams", "weight value (grams)"],
  tracker: ["variant inventory tracker", "inventory tracker"],
  quantity: ["variant inventory qty", "inventory quantity"],
  policy: ["variant inventory policy", "continue selling when out of stock"],
  price: ["variant price", "price"],
  compareAt: ["variant compare at price", "compare-at price"],
  requiresShipping: ["variant requires shipping", "requires shipping"],
  image: ["image src", "product image url", "image source"],
  imagePosition: ["image position"],
  variantImage: ["variant image", "variant image url"],
  googleCategory: ["google shopping / google product category", "google shopping / product category"],
  category: ["product category"],
  standardType: ["standardized product type"]
} as const

type Column = keyof typeof exportColumns

const format: TableFormat<Column> = {
  kind: "product export of Shopify",
  columns: Object.keys(exportColumns) as ReadonlyArray<Column>, // keys of a literal object, which TypeScript widens
  normalizeName: (name) => name.trim().replace(/\s+/g, " ").toLowerCase(),
  aliases: (column) => exportColumns[column],
  required: ["handle", "title", "price"]
}

/** One of several words, in any case. */
const oneOfWords = <A>(name: string, words: Readonly<Record<string, A>>): FieldType<A> => ({
  name,
  read: (value) => words[normalizeText(value)?.toLowerCase() ?? ""]
})
const flag = oneOfWords("a boolean", {
  true: true,
  yes: true,
  y: true,
  "1": true,
  false: false,
  no: false,
  n: false,
  "0": false
})
const status = oneOfWords("a status", { active: true, draft: false, archived: false, unlisted: false })
const policy = oneOfWords("an inventory policy", {
  continue: true,
  true: true,
  yes: true,
  deny: false,
  false: false,
  no: false
})
const quantity: FieldType<number> = {
  name: "a number",
  read: (value) => (/^-?\d+(?:\.\d+)?$/.test(normalizeText(value) ?? "") ? Number(value) : undefined)
}
const tagList: FieldType<ReadonlyArray<string>> = {
  name: "a list of tags",
  read: (value) => {
    const tags = String(value).split(",").map(normalizeText)
    return [...new Set(tags.filter((tag) => tag !== null))]
  },
  keepsPlaceholders: true
}

const readCells = ({ cell, has, name }: Columns<Column>, record: TableRecord, stats: FeedStats) => {
  const raw = (column: Column) => cell(record, column)
  const fields = new Fields(stats, shopifyCsvRoles)
  const read = <A>(column: Column, type: FieldType<A>) =>
    fields.read(column, has(column) ? raw(column) : undefined, type, name(column))
  return {
    raw,
    has,
    hasValue: (column: Column) => !isPlaceholder(raw(column)),
    read,
    text: (column: Column) => read(column, types.text)
  }
}
type Cells = ReturnType<typeof readCells>

const states = [
  ["status", status],
  ["published", flag]
] as const

/** Either column can say that the product is hidden; then it does not matter whether the other can be read. */
const isPublished = (cells: Cells) => {
  const hidden = states.find(([column, type]) => type.read(cells.raw(column)) === false)
  const stated = hidden === undefined ? states : [hidden]
  return stated.map(([column, type]) => cells.read(column, type)).every((isShown) => isShown !== false)
}

/** Google's own names come first: Shopify's may be from its own taxonomy, or translated. */
const readCategory = (cells: Cells): string | null =>
  pickStatement([cells.text("googleCategory"), cells.text("category"), cells.text("standardType")])

/** Undefined for a record without a title, which only adds a variant or a picture. */
const readProduct = (cells: Cells, native_id: string): FeedProduct | undefined => {
  const title = cells.text("title")
  if (title === null) return undefined
  return {
    native_id,
    title,
    handle: native_id,
    vendor: cells.text("vendor"),
    product_type: cells.text("type"),
    stated_category: readCategory(cells),
    tags: cells.read("tags", tagList) ?? [],
    body_text: cells.read("body", types.body),
    published_at: null,
    created_at: null,
    is_published: isPublished(cells)
  }
}

/**
 * Null if the stock is tracked and the export omits its quantity, as newer exports do, or if nothing is in stock and the
 * policy is not understood.
 */
const readAvailability = (cells: Cells): boolean | null => {
  const isSoldWithoutStock = cells.read("policy", policy)
  const stock = cells.read("quantity", quantity)
  if (isSoldWithoutStock === true) return true
  if (cells.has("tracker") && cells.read("tracker", types.code) === null) return true
  if (stock === null || stock > 0) return stock === null ? null : true
  const isPolicyUnknown = isSoldWithoutStock === null && cells.hasValue("policy")
  return isPolicyUnknown ? null : false
}

/** The option values distinguish the variants of a handle: `shirt/Green/S`. */
const buildVariantId = (handle: string, options: ReadonlyArray<string | null>) =>
  [handle, ...options.slice(0, options.findLastIndex((option) => option !== null) + 1)]
    .map((part) => (part ?? "").replace(/[\\/]/g, "\\$&"))
    .join("/")

/** One variant; none in a record that only adds a picture. */
const readVariants = (cells: Cells, product_native_id: string, position: number): ReadonlyArray<FeedVariant> => {
  const values = (["option1", "option2", "option3"] as const).map(cells.text)
  const sku = cells.read("sku", types.sheetCode)
  if (!cells.hasValue("price") && [sku, ...values].every((text) => text === null)) return []
  const options = values.map((value) => (value === "Default Title" ? null : value))
  const [option1 = null, option2 = null, option3 = null] = options
  const price = cells.read("price", types.price)
  return [
    {
      product_native_id,
      native_id: buildVariantId(product_native_id, options),
      title: options.filter((option) => option !== null).join(" / ") || "Default Title",
      sku,
      barcode: cells.read("barcode", types.barcode),
      price,
      compare_at_price: dropLowerPrice(cells.read("compareAt", types.price), price),
      currency: null,
      grams: Math.round(cells.read("grams", types.grams) ?? 0) || null,
      available: readAvailability(cells),
      option1,
      option2,
      option3,
      position,
      image_src: cells.read("variantImage", types.address),
      requires_shipping: cells.read("requiresShipping", flag)
    }
  ]
}

/** A record's picture is the product's next picture, even if the record is a variant. */
const readImages = (cells: Cells, product_native_id: string, line: number): ReadonlyArray<FeedImage> => {
  const src = cells.read("image", types.address)
  const position = cells.read("imagePosition", types.count) ?? line
  return src === null ? [] : [{ product_native_id, position, src, width: null, height: null }]
}

export const readShopifyCsv: ReadFile = (open, { stats = new FeedStats(), ...stated }) =>
  collectBatches(stats, (builder) =>
    readTable(builder, decodePieces(open, stated), format, stats, (record, columns, identify) => {
      const cells = readCells(columns, record, stats)
      const native_id = cells.read("handle", types.code)
      if (native_id === null) throw new UnusableRow("it has no handle")
      identify(native_id)
      const product = readProduct(cells, native_id)
      // a draft is left out with its variants, so a price in it that cannot be read does not make it a reject
      if (product?.is_published === false) return { product }
      return {
        product,
        variants: readVariants(cells, native_id, record.line),
        images: readImages(cells, native_id, record.line)
      }
    })
  )
