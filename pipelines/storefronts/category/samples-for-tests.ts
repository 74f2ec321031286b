/** Products of real recordings, which lie beside the repository where it was made and are no part of it; read without the feed modules. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import Papa from "papaparse"
import sax from "sax"
import type { Described } from "./decide.ts"

export interface Sampled extends Described {
  readonly native_id: string
}

const folder = new URL("../../../../shared/samples/storefront/", import.meta.url)
export const samplesAreHere = existsSync(fileURLToPath(folder))

const textOf = (name: string) => readFileSync(new URL(name, folder), "utf8")

const firstOfEach = (products: ReadonlyArray<Sampled>) => {
  const byId = new Map<string, Sampled>()
  for (const product of products) if (!byId.has(product.native_id)) byId.set(product.native_id, product)
  return [...byId.values()]
}

const csv = (name: string): ReadonlyArray<Sampled> => {
  const { data } = Papa.parse<Record<string, string>>(textOf(name), { header: true, skipEmptyLines: true })
  const rows = data.filter(
    (row) => row.Title && !/draft|archived/i.test(row.Status ?? "") && !/false/i.test(row.Published ?? "")
  )
  return firstOfEach(
    rows.map((row) => ({
      native_id: row.Handle ?? "",
      title: row.Title ?? "",
      product_type: row.Type || null,
      stated_category: row["Product Category"] || row["Google Shopping / Google Product Category"] || null,
      tags: (row.Tags ?? "").split(",").map((tag) => tag.trim()),
      vendor: row.Vendor || null
    }))
  )
}

const items = (name: string): ReadonlyArray<Sampled> => {
  const found: Array<Sampled> = []
  const parser = sax.parser(false, { lowercase: true })
  let fields = new Map<string, string>()
  const open: Array<string> = []
  let text = ""
  parser.onopentag = ({ name: tag }) => {
    if (tag === "item") fields = new Map()
    open.push(tag)
    text = ""
  }
  parser.ontext = (piece) => {
    text += piece
  }
  parser.oncdata = parser.ontext
  parser.onclosetag = (tag) => {
    open.pop()
    if (open.at(-1) === "item") fields.set(tag, text.trim())
    if (tag !== "item") return
    const field = (key: string) => fields.get(`g:${key}`) ?? fields.get(key) ?? null
    found.push({
      native_id: field("id") ?? "",
      title: field("title") ?? "",
      product_type: field("product_type"),
      stated_category: field("google_product_category"),
      tags: [0, 1, 2, 3, 4].flatMap((label) => field(`custom_label_${label}`) ?? []),
      vendor: field("brand")
    })
  }
  parser.onerror = () => {
    parser.resume()
  }
  parser.write(textOf(name)).close()
  return firstOfEach(found)
}

export const sampleStores: Readonly<Record<string, () => ReadonlyArray<Sampled>>> = {
  apparel: () => csv("shopify-csv/shopifypartners--apparel.csv"),
  barisugus: () => items("google-merchant/barisugus--merchant-feed.xml"),
  "home-and-garden": () => csv("shopify-csv/shopifypartners--home-and-garden.csv"),
  jewelery: () => csv("shopify-csv/shopifypartners--jewelery.csv"),
  mintpixels: () => csv("shopify-csv/mintpixels--products_export_1.csv"),
  "sooq-masr": () => items("google-merchant/sooq-masr--google-merchant-feed.xml"),
  taras2121212: () => items("google-merchant/taras2121212-source--google-merchant-feed.xml")
}
