/**
 * Reads a product export of Shopify, in both layouts: the classic one (`Handle`, `Variant Price`) and the new template
 * (`URL handle`, `Price`). A record contains a product, a variant and a picture, or any of them. The records of a
 * product share its handle and may be far apart. Only the first one has a title and states whether the product is
 * published.
 *
 * Positions are lines of the file; the header is line 1. Shopify writes prices without a currency; other programs may write
 * one. The export has no times.
 */
import { isPlaceholder } from "../../../run/placeholders.ts"
import { pickStatement } from "../../normalise/category/taxonomy.ts"
import { collectBatches } from "../batch-builder.ts"
import type { FeedImage, FeedProduct, FeedVariant, ReadFile } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import { FeedStats } from "../feed-stats.ts"
import { shopifyCsvRoles } from "../field-roles.ts"
import { type FieldType, types } from "../field-types.ts"
import { amountType } from "../money/amounts.ts"
import type { FilePrices } from "../money/file-prices.ts"
import { decodePieces } from "../payload-text.ts"
import { decodeText, dropLowerPrice, normalizeText } from "../texts.ts"
import { Fields } from "../typed-fields.ts"
import { parseGrams } from "../weights.ts"
import { exportColumns } from "./shopify-columns.ts"
import { type Columns, readTable, readTablePrices, type TableFormat } from "./table.ts"
import type { TableRecord } from "./table-records.ts"

type Column = keyof typeof exportColumns

/** No export of Shopify has one of them. Any of them can be left out of an export of Matrixify. */
const matrixifyColumns = ["command", "tags command", "variant command", "image command", "row #", "top row"]

const format: TableFormat<Column> = {
  kind: "product export of Shopify",
  columns: Object.keys(exportColumns) as ReadonlyArray<Column>, // keys of a literal object, which TypeScript widens
  normalizeName: (name) => name.trim().replace(/\s+/g, " ").toLowerCase(),
  aliases: (column) => exportColumns[column],
  required: ["handle", "title", "price"],
  refuse: (names) => {
    const found = matrixifyColumns.filter((name) => names.includes(name))
    const hasOwnBody = names.includes("body html") // Shopify's is `Body (HTML)`
    if (!hasOwnBody && found.length < 2) return null
    const shown = hasOwnBody ? ["body html", ...found] : found
    return `This is an export of Matrixify (it has the columns "${shown.join('", "')}"), which has other columns than Shopify's. Export the products with Shopify itself: Products > Export.`
  }
}

/** One of several words, in any case. */
const oneOfWords = <A>(name: string, words: Readonly<Record<string, A>>): FieldType<A> => {
  const values = new Map(Object.entries(words))
  return { name, read: (value) => values.get(normalizeText(value)?.toLowerCase() ?? "") }
}
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
/** Only its sign matters, so a separator of thousands may be read as a decimal separator. */
const quantity: FieldType<number> = {
  name: "a number",
  read: (value) => {
    const text = normalizeText(value) ?? ""
    return /^-?\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(",", ".")) : undefined
  }
}
const grams: FieldType<number> = {
  name: "a weight",
  read: (value) => parseGrams(String(value), "g")
}
const tagList: FieldType<ReadonlyArray<string>> = {
  name: "a list of tags",
  read: (value) => {
    const tags = String(value).split(",").map(decodeText)
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
    text: (column: Column) => read(column, types.text),
    addresses: (column: Column) => (has(column) ? fields.readAddresses(column, raw(column), name(column)) : [])
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

/** The option values, as they were sent, distinguish the variants of a handle: `shirt/Green/S`. */
const buildVariantId = (handle: string, options: ReadonlyArray<string | null>) =>
  [handle, ...options.slice(0, options.findLastIndex((option) => option !== null) + 1)]
    .map((part) => (part ?? "").replace(/[\\/]/g, "\\$&"))
    .join("/")

const optionColumns = ["option1", "option2", "option3"] as const

type PriceContext = { readonly prices: Pick<FilePrices, "separator">; readonly currency: string | null }

const readPrices = (cells: Cells, { currency, prices }: PriceContext) => {
  const amount = amountType({ currency, separator: prices.separator })
  const price = cells.read("price", amount)
  const compareAt = cells.read("compareAt", amount)
  return {
    price: price?.amount ?? null,
    compare_at_price: dropLowerPrice(compareAt?.amount ?? null, price?.amount ?? null),
    currency: price?.currency ?? null
  }
}

/** Ids contain the SKU with its entities. */
const readSentSku = (cells: Cells) => {
  const sent = cells.raw("sku")
  return sent.includes("&") ? { sent_sku: normalizeText(sent.trim().replace(/^'+/, "")) } : undefined
}

/** One variant; none in a record that only adds a picture. */
const readVariants = (
  cells: Cells,
  product_native_id: string,
  position: number,
  context: PriceContext
): ReadonlyArray<FeedVariant> => {
  const values = optionColumns.map(cells.text)
  const sku = cells.read("sku", types.sheetCode)
  if (!cells.hasValue("price") && [sku, ...values].every((text) => text === null)) return []
  const options = values.map((value) => (value === "Default Title" ? null : value))
  const sent = optionColumns.map((column, index) => {
    const raw = cells.raw(column)
    return raw.includes("&") && options[index] !== null ? normalizeText(raw) : (options[index] ?? null)
  })
  const [option1 = null, option2 = null, option3 = null] = options
  return [
    {
      product_native_id,
      native_id: buildVariantId(product_native_id, sent),
      title: options.filter((option) => option !== null).join(" / ") || "Default Title",
      sku,
      ...readSentSku(cells),
      barcode: cells.read("barcode", types.barcode),
      ...readPrices(cells, context),
      grams: cells.read("grams", grams),
      available: readAvailability(cells),
      option1,
      option2,
      option3,
      position,
      image_src: cells.addresses("variantImage")[0] ?? null,
      requires_shipping: cells.read("requiresShipping", flag)
    }
  ]
}

/** A record's pictures are the product's next pictures, even if the record is a variant. They share its position. */
const readImages = (cells: Cells, product_native_id: string, line: number): ReadonlyArray<FeedImage> => {
  const position = cells.read("imagePosition", types.count) ?? line
  return cells
    .addresses("image")
    .map((src) => ({ product_native_id, position, src, width: null, height: null, source_row: line }))
}

export const readShopifyCsv: ReadFile = (open, { currency, stats = new FeedStats(), ...stated }) => {
  const openText = () => decodePieces(open, stated)
  const prices = readTablePrices(openText, format, ["price", "compareAt"])
  return collectBatches(stats, (builder) =>
    readTable(builder, openText(), format, { prices, stats }, (record, columns, identify) => {
      const cells = readCells(columns, record, stats)
      const native_id = cells.read("handle", types.key)
      if (native_id === null) throw new UnusableRow("it has no handle")
      identify(native_id)
      const product = readProduct(cells, native_id)
      // a draft is left out with its variants, so a price in it that cannot be read does not make it a reject
      if (product?.is_published === false) return { product }
      return {
        product,
        variants: readVariants(cells, native_id, record.line, { currency, prices }),
        images: readImages(cells, native_id, record.line)
      }
    })
  )
}
