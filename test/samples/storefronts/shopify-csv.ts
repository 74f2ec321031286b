/**
 * A store as a Shopify product export, in either dialect, as irregular as real exports: titles and option names only in the
 * first row, pictures in variant rows and then in further rows, some of them after the next product; weights as floats,
 * quotes before barcodes, prices with 0, 1 or 2 decimals.
 */
import { hashNumbers } from "../branded-foods/chance.ts"
import { makeProducts, type Product } from "./product.ts"
import { moneyText, type Store } from "./store.ts"
import { Tally, type Written } from "./written.ts"

export interface CsvForm {
  readonly dialect: "classic" | "new"
  readonly newline: "\n" | "\r\n"
  readonly byteOrderMark: boolean
}

const both = {
  title: ["Title", "Title"],
  handle: ["Handle", "URL handle"],
  body: ["Body (HTML)", "Description"],
  vendor: ["Vendor", "Vendor"],
  category: ["Product Category", "Product category"],
  type: ["Type", "Type"],
  tags: ["Tags", "Tags"],
  published: ["Published", "Published on online store"],
  status: ["Status", "Status"],
  option1: ["Option1 Name", "Option1 name"],
  value1: ["Option1 Value", "Option1 value"],
  option2: ["Option2 Name", "Option2 name"],
  value2: ["Option2 Value", "Option2 value"],
  option3: ["Option3 Name", "Option3 name"],
  value3: ["Option3 Value", "Option3 value"],
  sku: ["Variant SKU", "SKU"],
  barcode: ["Variant Barcode", "Barcode"],
  grams: ["Variant Grams", "Weight value (grams)"],
  unit: ["Variant Weight Unit", "Weight unit for display"],
  tracker: ["Variant Inventory Tracker", "Inventory tracker"],
  stock: ["Variant Inventory Qty", "Inventory quantity"],
  policy: ["Variant Inventory Policy", "Continue selling when out of stock"],
  price: ["Variant Price", "Price"],
  compare: ["Variant Compare At Price", "Compare-at price"],
  ships: ["Variant Requires Shipping", "Requires shipping"],
  taxable: ["Variant Taxable", "Charge tax"],
  image: ["Image Src", "Product image URL"],
  place: ["Image Position", "Image position"],
  alt: ["Image Alt Text", "Image alt text"],
  own: ["Variant Image", "Variant image URL"],
  gift: ["Gift Card", "Gift card"],
  seo: ["SEO Title", "SEO title"],
  cost: ["Cost per item", "Cost per item"]
} as const
type Field = keyof typeof both
type Cells = Partial<Record<Field, string>>

const orders: Readonly<Record<CsvForm["dialect"], ReadonlyArray<Field>>> = {
  classic: (
    "handle title body vendor category type tags published option1 value1 option2 value2 option3 value3 sku grams tracker stock " +
    "policy price compare ships taxable barcode image place alt gift seo own unit cost status"
  ).split(" ") as Array<Field>, // a list of keys of `both`, from which the header is built
  new: (
    "title handle body vendor category type tags published status sku barcode option1 value1 option2 value2 option3 value3 price " +
    "compare cost taxable tracker stock policy grams unit ships image place alt own gift seo"
  ).split(" ") as Array<Field>
}

const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** 1250 as `12.5` or `12.50`, 1200 also as `12`. */
const priceText = (cents: number, form: number) => {
  if (form < 3) return moneyText(cents)
  return cents % 100 === 0 && form < 6 ? `${cents / 100}` : moneyText(cents).replace(/(\.\d)0$/, "$1")
}

const gramsText = (grams: number, form: number) => {
  if (grams === 0) return form < 5 ? "0.0" : ""
  return form < 4 ? `${grams}.0` : `${grams - 1}.9${700 + form}`
}

const categoryText = ({ category, ships }: Product, form: number) => {
  if (!ships || form < 2) return ""
  return form === 2 ? "Uncategorized" : category.path
}

const firstCells = (product: Product, form: number, isNew: boolean): Cells => {
  const truth = form < 7 ? "true" : "TRUE"
  const { body, options, pictures, state, tags, title, type, vendor } = product
  return {
    title,
    body,
    vendor,
    category: categoryText(product, form),
    type,
    tags: tags.join(", "),
    published: state === "unpublished" ? "false" : truth,
    status: state === "unpublished" ? "active" : state,
    option1: options[0]?.name ?? "Title",
    option2: options[1]?.name ?? "",
    option3: options[2]?.name ?? "",
    gift: product.ships || product.type !== "Gift Cards" ? "false" : "true",
    seo: isNew ? title : "",
    alt: pictures.length === 0 ? "" : title.trim()
  }
}

const policies = { classic: ["deny", "continue"], new: ["DENY", "CONTINUE"] } as const

/** Available because of stock, because it is sold without stock, or because stock is not tracked. */
const stockCells = (available: boolean, form: number, dialect: CsvForm["dialect"]): Cells => {
  const [deny, goOn] = policies[dialect]
  if (!available) return { tracker: "shopify", stock: form < 8 ? "0" : "-2", policy: deny }
  if (form < 2) return { tracker: "", stock: "0", policy: deny }
  return form < 4
    ? { tracker: "shopify", stock: "0", policy: goOn }
    : { tracker: "shopify", stock: `${3 + form * 4}`, policy: deny }
}

const compareText = (compare: number | null, form: number) => {
  if (compare === null) return ""
  return compare === 0 ? "0" : priceText(compare, form)
}

/** Rows of one product without its handle: variants, then the remaining pictures. */
const makeRows = (store: Store, product: Product, dialect: CsvForm["dialect"]): ReadonlyArray<Cells> => {
  const form = hashNumbers(store.seed, 51, product.index) % 10
  const { pictures, ships, variants } = product
  const image = (place: number): Cells => {
    const found = pictures[place]
    return found ? { image: found.src, place: `${place + 1}` } : {}
  }
  const rows = variants.map((variant, place): Cells => {
    const { available, barcode, cents, compare, grams, picture, sku, values } = variant
    return {
      ...(place === 0 ? firstCells(product, form, dialect === "new") : {}),
      value1: values[0] ?? "Default Title",
      value2: values[1] ?? "",
      value3: values[2] ?? "",
      sku: `${form === 9 && sku ? "'" : ""}${sku ?? ""}`,
      barcode: `${form < 4 && barcode !== "" ? "'" : ""}${barcode}`,
      grams: gramsText(grams, form),
      unit: grams < 1000 ? "g" : "kg",
      ...stockCells(available, (form + place) % 10, dialect),
      price: priceText(cents, (form + place) % 10),
      compare: compareText(compare, form),
      ships: `${ships}`,
      taxable: `${ships}`,
      ...image(place),
      own: picture === null ? "" : (pictures[picture]?.src ?? "")
    }
  })
  return [...rows, ...pictures.slice(variants.length).map((_, i) => image(variants.length + i))]
}

const rowText = (order: ReadonlyArray<Field>, cells: Cells, newline: string) =>
  order.map((field) => quote(cells[field] ?? "")).join(",") + newline

/** Pieces of the file, newest product first. */
export const shopifyCsv = function* (store: Store, { byteOrderMark, dialect, newline }: CsvForm): Generator<string> {
  const order = orders[dialect]
  const which = dialect === "classic" ? 0 : 1
  yield (byteOrderMark ? "\uFEFF" : "") + order.map((field) => quote(both[field][which])).join(",") + newline
  let late = ""
  for (const product of makeProducts(store)) {
    const texts = makeRows(store, product, dialect).map((cells) =>
      rowText(order, { ...cells, handle: product.handle }, newline)
    )
    // Rows of a handle need not be adjacent.
    const isApart = texts.length > product.variants.length && product.index % 5 === 3
    const own = isApart ? texts.slice(0, -1) : texts
    yield own.join("") + late
    late = isApart ? (texts.at(-1) ?? "") : ""
  }
  yield late
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
    for (const { available, cents, compare } of variants) tally.variant(cents, compare, available)
  }
  return tally.written
}
