/** Index of the current labels, numbered in search order as documents: ids, and documents by category and barcode. */
import { join } from "node:path"
import { parseBarcode } from "./barcodes.ts"
import { type Bundle, forEachLine, writeArrays } from "./files.ts"

export const labelFile = "labels.index"

/**
 * One line per current label, ascending by fdc_id: fdc_id, barcode and category, separated by tabs. A barcode of eight
 * digits that is padded with zeros or written with hyphens is reduced to these eight digits: it may be a UPC-E.
 */
export const selectLabels = `
  select
    fdc_id,
    if(starts_with(gtin_14, '000000') and length(translate(upc, '- ', '')) >= 8, right(gtin_14, 8), gtin_14),
    translate(category, chr(9) || chr(10), '  ')
  from branded_food.current_food
  order by fdc_id`

/** Hashes a barcode of up to 14 digits to 32 bits. */
const hashBarcode = (barcode: number) => {
  const hash = Math.imul(((barcode % 2 ** 32) | 0) ^ Math.imul(barcode / 2 ** 32, 0x9e3779b1), 0x85ebca6b)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** Hash table from barcodes to documents. The entries for the second number of a UPC-E follow those of all documents. */
const makeBarcodeTable = (first: Float64Array, others: ReadonlyArray<readonly [number, number]>) => {
  const barcodes = new Float64Array(first.length + others.length)
  barcodes.set(first)
  barcodes.set(
    others.map(([, barcode]) => barcode),
    first.length
  )
  const heads = new Uint32Array(2 ** Math.ceil(Math.log2(barcodes.length + 1)))
  const nexts = new Uint32Array(barcodes.length)
  for (let entry = barcodes.length - 1; entry >= 0; entry--) {
    const barcode = barcodes[entry] ?? -1
    if (barcode < 0) continue
    const slot = hashBarcode(barcode) & (heads.length - 1)
    nexts[entry] = heads[slot] ?? 0
    heads[slot] = entry + 1 // 0 ends the chain
  }
  return { barcodes, barcodeHeads: heads, barcodeNexts: nexts, barcodeOthers: Uint32Array.from(others, ([doc]) => doc) }
}

/** Categories that differ only in case are the same. `categories_of_foods.sql` groups by the same key. */
const categoryKey = (category: string) => category.toLowerCase().replaceAll("ς", "σ")

const flattenCategories = (docsOf: ReadonlyMap<string, ReadonlyArray<number>>) => {
  const starts = [0]
  for (const docs of docsOf.values()) starts.push((starts.at(-1) ?? 0) + docs.length)
  return {
    categoryNames: Buffer.from(JSON.stringify([...docsOf.keys()])),
    categoryStarts: Uint32Array.from(starts),
    categoryDocs: Uint32Array.from([...docsOf.values()].flat())
  }
}

export const indexLabels = (lines: string, folder: string, documents: number) => {
  const ids = new Int32Array(documents)
  const barcodes = new Float64Array(documents).fill(-1)
  const others: Array<readonly [number, number]> = []
  const categories = new Map<string, Array<number>>()
  let doc = 0
  forEachLine(lines, (bytes, from, to) => {
    const [id, barcode = "", category = ""] = bytes.toString("utf8", from, to).split("\t")
    ids[doc] = Number(id)
    const [first, other] = parseBarcode(barcode)
    if (first !== undefined) barcodes[doc] = first
    if (other !== undefined) others.push([doc, other])
    if (category !== "") {
      const key = categoryKey(category)
      const docs = categories.get(key)
      if (docs === undefined) categories.set(key, [doc])
      else docs.push(doc)
    }
    doc++
  })
  if (doc !== documents) throw new Error(`labels: ${doc} lines for ${documents} foods`)
  const arrays = { ids, ...makeBarcodeTable(barcodes, others), ...flattenCategories(categories) }
  writeArrays(join(folder, labelFile), arrays)
}

export type Labels = ReturnType<typeof makeLabels>

export const makeLabels = (index: Bundle) => {
  const ids = index.integers("ids")
  const barcodes = index.doubles("barcodes")
  const heads = index.naturals("barcodeHeads")
  const nexts = index.naturals("barcodeNexts")
  const others = index.naturals("barcodeOthers")
  const names: ReadonlyArray<string> = JSON.parse(index.bytes("categoryNames").toString())
  const categories = new Map(names.map((name, i) => [name, i]))
  const starts = index.naturals("categoryStarts")
  const docs = index.naturals("categoryDocs")
  return {
    ids,
    findByCategory: (category: string) => {
      const number = categories.get(categoryKey(category))
      return number === undefined ? new Uint32Array() : docs.subarray(starts[number], starts[number + 1])
    },
    findByBarcode: (text: string) => {
      const matches = new Set<number>()
      for (const barcode of parseBarcode(text)) {
        let entry = heads[hashBarcode(barcode) & (heads.length - 1)] ?? 0
        for (; entry > 0; entry = nexts[entry - 1] ?? 0) {
          if (barcodes[entry - 1] !== barcode) continue
          const doc = entry - 1
          matches.add(doc < ids.length ? doc : (others[doc - ids.length] ?? 0))
        }
      }
      return Uint32Array.from(matches).sort()
    }
  }
}
