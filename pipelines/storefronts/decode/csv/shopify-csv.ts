/**
 * Reads a product export of Shopify, in both dialects: the classic one (`Handle`, `Variant Price`) and the new template
 * (`URL handle`, `Price`). A record holds a product, a variant and a picture, or any of them. The records of a product
 * share its handle and may be far apart. Only the first one has a title, and states whether the product is published.
 *
 * Positions are lines of the file; the header is line 1. The export states no currency and no times.
 */

import { preferredStatement } from "../../normalise/category/taxonomy.ts"
import { FeedUnreadable, type ImageRow, type ProductRow, type ReadFile, type VariantRow } from "../feed.ts"
import { htmlToText } from "../html-text.ts"
import { Unusable } from "../page.ts"
import { payloadText } from "../payload-text.ts"
import { count, Fields, grams, Judged, price, type Type } from "../stated.ts"
import { formerPrice, tidied, webAddress } from "../texts.ts"
import { type Batching, inBatches, type RowFound } from "./batching.ts"
import { type Columns, type ColumnsWanted, columnsOf } from "./table-columns.ts"
import { type TableRecord, tableRecords } from "./table-records.ts"

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
const allColumns = Object.keys(exportColumns) as ReadonlyArray<Column> // keys of a literal object, which TypeScript widens

const wanted: ColumnsWanted<Column> = {
  kind: "product export of Shopify",
  spelled: (name) => name.trim().replace(/\s+/g, " ").toLowerCase(),
  namesOf: (column) => exportColumns[column],
  needed: ["handle", "title", "price"]
}

/** One of several words, in any case. */
const wordOf = <A>(what: string, words: Readonly<Record<string, A>>): Type<A> => ({
  what,
  read: (value) => words[tidied(value)?.toLowerCase() ?? ""]
})
const flag = wordOf("boolean", { true: true, false: false })
const status = wordOf("status", { active: true, draft: false, archived: false, unlisted: false })
const policy = wordOf("inventory policy", {
  continue: true,
  true: true,
  yes: true,
  deny: false,
  false: false,
  no: false
})
const quantity: Type<number> = {
  what: "number",
  read: (value) => (/^-?\d+(?:\.\d+)?$/.test(tidied(value) ?? "") ? Number(value) : undefined)
}

/** The cells of one record, tidied. */
const readerOf = ({ cellOf, has }: Columns<Column>, record: TableRecord, judged: Judged) => {
  const text = (column: Column) => tidied(cellOf(record, column))
  const fields = new Fields(judged)
  return {
    text,
    has,
    raw: (column: Column) => cellOf(record, column),
    /** Messages call the column by the last of its names. */
    stated: <A>(column: Column, type: Type<A>) => fields.read(column, text(column), type, exportColumns[column].at(-1)),
    /** A leading `'` keeps spreadsheets from reading a code as a number. */
    code: (column: Column) => tidied(text(column)?.replace(/^'+/, ""))
  }
}
type Cells = ReturnType<typeof readerOf>

const isPublished = (cells: Cells) => {
  const isActive = cells.stated("status", status) !== false
  return cells.stated("published", flag) !== false && isActive
}

const tagsOf = (cells: Cells): ReadonlyArray<string> => {
  const tags = cells.raw("tags").split(",").map(tidied)
  return [...new Set(tags.filter((tag) => tag !== null))]
}

/** Google's own names come first: Shopify's may be from its own taxonomy, or translated. */
const statedCategory = (cells: Cells): string | null =>
  preferredStatement([cells.text("googleCategory"), cells.text("category"), cells.text("standardType")])

const productOf = (cells: Cells, native_id: string): ProductRow | undefined => {
  const title = cells.text("title")
  if (title === null) return undefined
  return {
    native_id,
    title,
    handle: native_id,
    vendor: cells.text("vendor"),
    product_type: cells.text("type"),
    stated_category: statedCategory(cells),
    tags: tagsOf(cells),
    body_text: htmlToText(cells.raw("body")),
    published_at: null,
    created_at: null,
    is_published: isPublished(cells)
  }
}

/** Null if the stock is tracked and the export leaves out its quantity, as newer exports do. */
const availability = (cells: Cells): boolean | null => {
  const sellsOn = cells.stated("policy", policy)
  const stock = cells.stated("quantity", quantity)
  if (sellsOn === true) return true
  if (cells.has("tracker") && cells.text("tracker") === null) return true
  return stock === null ? null : stock > 0
}

/** 0 means "not known". */
const gramsOf = (cells: Cells): number | null => Math.round(cells.stated("grams", grams) ?? 0) || null

/** The option values distinguish the variants of a handle: `shirt/Green/S`. */
const nativeId = (handle: string, options: ReadonlyArray<string | null>) =>
  [handle, ...options.slice(0, options.findLastIndex((option) => option !== null) + 1)]
    .map((part) => (part ?? "").replace(/[\\/]/g, "\\$&"))
    .join("/")

const variantOf = (cells: Cells, product_native_id: string, position: number): VariantRow | undefined => {
  const values = (["option1", "option2", "option3"] as const).map(cells.text)
  const isVariant = [cells.text("price"), cells.text("sku"), ...values].some((text) => text !== null)
  if (!isVariant) return undefined
  const options = values.map((value) => (value === "Default Title" ? null : value))
  const [option1 = null, option2 = null, option3 = null] = options
  const own = cells.stated("price", price)
  return {
    product_native_id,
    native_id: nativeId(product_native_id, options),
    title: options.filter((option) => option !== null).join(" / ") || "Default Title",
    sku: cells.code("sku"),
    barcode: cells.code("barcode"),
    price: own,
    compare_at_price: formerPrice(cells.stated("compareAt", price), own),
    currency: null,
    grams: gramsOf(cells),
    available: availability(cells),
    option1,
    option2,
    option3,
    position,
    image_src: webAddress(cells.raw("variantImage")),
    requires_shipping: cells.stated("requiresShipping", flag)
  }
}

/** The picture of a record is the next picture of the product, even if the record is a variant. */
const imagesOf = (cells: Cells, product_native_id: string, line: number): ReadonlyArray<ImageRow> => {
  const src = webAddress(cells.raw("image"))
  const position = cells.stated("imagePosition", count) ?? line
  return src === null ? [] : [{ product_native_id, position, src, width: null, height: null }]
}

const rowOf = (columns: Columns<Column>, record: TableRecord, judged: Judged): RowFound => {
  if (record.problem !== null) throw new Unusable(record.problem)
  const cells = readerOf(columns, record, judged)
  const native_id = cells.text("handle")
  if (native_id === null) throw new Unusable("it has no handle")
  try {
    const product = productOf(cells, native_id)
    const variant = variantOf(cells, native_id, record.line)
    return {
      native_id,
      ...(product === undefined ? {} : { product }),
      ...(variant === undefined ? {} : { variant }),
      images: imagesOf(cells, native_id, record.line)
    }
  } catch (cause) {
    throw cause instanceof Unusable ? new Unusable(cause.message, native_id) : cause
  }
}

async function* readInto(batching: Batching, pieces: AsyncGenerator<string>, judged: Judged): AsyncGenerator<void> {
  let columns: Columns<Column> | undefined
  for await (const records of tableRecords(pieces)) {
    for (const record of records) {
      const known = columns
      if (known === undefined) {
        columns = columnsOf(record, wanted)
        for (const column of allColumns) if (columns.has(column)) judged.saw(exportColumns[column][0])
      } else batching.take(record.line, record.raw, () => rowOf(known, record, judged))
      if (batching.isFull) yield
    }
  }
  if (columns === undefined) throw new FeedUnreadable("The file is empty.")
}

export const readShopifyCsv: ReadFile = (bytes, { content_type, judged = new Judged() }) =>
  inBatches(judged, (batching) => readInto(batching, payloadText(bytes, content_type), judged))
