/**
 * A store as a Shopify product export, as irregular as real exports: titles and option names only in the first row,
 * pictures in variant rows and then in further rows, some of them after the next product; weights as floats, quotes
 * before barcodes, prices with 0, 1 or 2 decimals.
 */
import { hashNumbers } from "../branded-foods/chance.ts"
import { makeProducts, type Product } from "./product.ts"
import { formatMoney, type Store } from "./store.ts"
import { Tally, type Written } from "./written.ts"

/** Fields with the names of their columns, in the order of the export. */
const columns = [
  ["handle", "Handle"],
  ["title", "Title"],
  ["body", "Body (HTML)"],
  ["vendor", "Vendor"],
  ["category", "Product Category"],
  ["type", "Type"],
  ["tags", "Tags"],
  ["published", "Published"],
  ["option1", "Option1 Name"],
  ["value1", "Option1 Value"],
  ["option2", "Option2 Name"],
  ["value2", "Option2 Value"],
  ["option3", "Option3 Name"],
  ["value3", "Option3 Value"],
  ["sku", "Variant SKU"],
  ["grams", "Variant Grams"],
  ["tracker", "Variant Inventory Tracker"],
  ["stock", "Variant Inventory Qty"],
  ["policy", "Variant Inventory Policy"],
  ["price", "Variant Price"],
  ["compare", "Variant Compare At Price"],
  ["ships", "Variant Requires Shipping"],
  ["taxable", "Variant Taxable"],
  ["barcode", "Variant Barcode"],
  ["image", "Image Src"],
  ["place", "Image Position"],
  ["alt", "Image Alt Text"],
  ["gift", "Gift Card"],
  ["seo", "SEO Title"],
  ["variantImage", "Variant Image"],
  ["unit", "Variant Weight Unit"],
  ["cost", "Cost per item"],
  ["status", "Status"]
] as const
type Field = (typeof columns)[number][0]
type Cells = Partial<Record<Field, string>>

const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** 1250 as `12.5` or `12.50`, 1200 also as `12`. */
const formatPrice = (cents: number, style: number) => {
  if (style < 3) return formatMoney(cents)
  return cents % 100 === 0 && style < 6 ? `${cents / 100}` : formatMoney(cents).replace(/(\.\d)0$/, "$1")
}

const formatGrams = (grams: number, style: number) => {
  if (grams === 0) return style < 5 ? "0.0" : ""
  return style < 4 ? `${grams}.0` : `${grams - 1}.9${700 + style}`
}

const formatCategory = ({ category, ships }: Product, style: number) => {
  if (!ships || style < 2) return ""
  return style === 2 ? "Uncategorized" : category.path
}

const makeFirstCells = (product: Product, style: number): Cells => {
  const trueText = style < 7 ? "true" : "TRUE"
  const { body, options, pictures, state, tags, title, type, vendor } = product
  return {
    title,
    body,
    vendor,
    category: formatCategory(product, style),
    type,
    tags: tags.join(", "),
    published: state === "unpublished" ? "false" : trueText,
    status: state === "unpublished" ? "active" : state,
    option1: options[0]?.name ?? "Title",
    option2: options[1]?.name ?? "",
    option3: options[2]?.name ?? "",
    gift: product.ships || product.type !== "Gift Cards" ? "false" : "true",
    alt: pictures.length === 0 ? "" : title.trim()
  }
}

/** Available because of stock, because it is sold without stock, or because stock is not tracked. */
const makeStockCells = (available: boolean, style: number): Cells => {
  if (!available) return { tracker: "shopify", stock: style < 8 ? "0" : "-2", policy: "deny" }
  if (style < 2) return { tracker: "", stock: "0", policy: "deny" }
  return style < 4
    ? { tracker: "shopify", stock: "0", policy: "continue" }
    : { tracker: "shopify", stock: `${3 + style * 4}`, policy: "deny" }
}

const formatComparePrice = (compare: number | null, style: number) => {
  if (compare === null) return ""
  return compare === 0 ? "0" : formatPrice(compare, style)
}

/** Rows of one product without its handle: variants, then the remaining pictures. */
const makeRows = (store: Store, product: Product): ReadonlyArray<Cells> => {
  const style = hashNumbers(store.seed, 51, product.index) % 10
  const { pictures, ships, variants } = product
  const image = (place: number): Cells => {
    const found = pictures[place]
    return found ? { image: found.src, place: `${place + 1}` } : {}
  }
  const rows = variants.map((variant, place): Cells => {
    const { available, barcode, cents, compare, grams, picture, sku, values } = variant
    return {
      ...(place === 0 ? makeFirstCells(product, style) : {}),
      value1: values[0] ?? "Default Title",
      value2: values[1] ?? "",
      value3: values[2] ?? "",
      sku: `${style === 9 && sku ? "'" : ""}${sku ?? ""}`,
      barcode: `${style < 4 && barcode !== "" ? "'" : ""}${barcode}`,
      grams: formatGrams(grams, style),
      unit: grams < 1000 ? "g" : "kg",
      ...makeStockCells(available, (style + place) % 10),
      price: formatPrice(cents, (style + place) % 10),
      compare: formatComparePrice(compare, style),
      ships: `${ships}`,
      taxable: `${ships}`,
      ...image(place),
      variantImage: picture === null ? "" : (pictures[picture]?.src ?? "")
    }
  })
  return [...rows, ...pictures.slice(variants.length).map((_, i) => image(variants.length + i))]
}

const formatRow = (cells: Cells) => `${columns.map(([field]) => quote(cells[field] ?? "")).join(",")}\n`

/** Pieces of the file, newest product first. */
export const makeShopifyCsv = function* (store: Store): Generator<string> {
  yield `${columns.map(([, name]) => quote(name)).join(",")}\n`
  let lateRow = ""
  for (const product of makeProducts(store)) {
    const rows = makeRows(store, product).map((cells) => formatRow({ ...cells, handle: product.handle }))
    // Rows of a handle need not be adjacent.
    const hasLateRow = rows.length > product.variants.length && product.index % 5 === 3
    yield (hasLateRow ? rows.slice(0, -1) : rows).join("") + lateRow
    lateRow = hasLateRow ? (rows.at(-1) ?? "") : ""
  }
  yield lateRow
}

/** All rows of drafts, archived and unpublished products are ignored. */
export const countCsv = (store: Store): Written => {
  const tally = new Tally()
  for (const { pictures, state, variants } of makeProducts(store)) {
    const rows = Math.max(variants.length, pictures.length)
    tally.rows += rows
    if (state !== "active") {
      tally.left_out += rows
      continue
    }
    tally.products += 1
    tally.images += pictures.length
    for (const { available, cents, compare } of variants) tally.addVariant(cents, compare, available)
  }
  return tally.written
}
