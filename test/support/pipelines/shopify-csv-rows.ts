/** Product exports of Shopify for tests, made from rows, and the result of reading them. */

import { readShopifyCsv } from "@larder/pipelines/storefronts/decode/csv/shopify-csv.ts"
import { readWhole } from "./file-feeds.ts"

/** Cells of a row by the names of their columns. */
export type Cells = Readonly<Record<string, string>>

export const csvOf = (rows: ReadonlyArray<Cells>) => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells: ReadonlyArray<string>) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")
  return [line(columns), ...rows.map((row) => line(columns.map((column) => row[column] ?? "")))].join("\n")
}

/** Reads an export of these rows. */
export const read = (...rows: ReadonlyArray<Cells>) => readWhole(readShopifyCsv, csvOf(rows))

/** A row in the classic layout: a product with its only variant. */
export const aProduct = (changes: Cells = {}) => ({
  Handle: "oat-bar",
  Title: "Oat Bar",
  "Body (HTML)": "<p>Oats &amp; honey</p>",
  Vendor: "Field Mill ",
  "Product Category": "Food, Beverages & Tobacco > Food Items > Snack Foods",
  Type: "Bars",
  Tags: "oats, honey,, oats",
  Published: "true",
  "Option1 Name": "Title",
  "Option1 Value": "Default Title",
  "Option2 Value": "",
  "Option3 Value": "",
  "Variant SKU": "'0042",
  "Variant Grams": "250.0201143",
  "Variant Inventory Tracker": "shopify",
  "Variant Inventory Qty": "3",
  "Variant Inventory Policy": "deny",
  "Variant Price": "5.70",
  "Variant Compare At Price": "6",
  "Variant Requires Shipping": "TRUE",
  "Variant Barcode": "'4000000000017",
  "Image Src": "https://cdn.example/oat.jpg?v=1",
  "Image Position": "1",
  "Google Shopping / Google Product Category": "",
  "Variant Image": "//cdn.example/oat-variant.jpg",
  Status: "active",
  "Cost per item": "1.10",
  ...changes
})

/** A row with another variant of that product, and therefore without a title. */
export const aVariant = (changes: Cells) => {
  const { Handle, "Variant Price": price } = aProduct()
  return { Handle, "Variant Price": price, ...changes }
}
