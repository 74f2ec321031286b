/**
 * Writes recordings of invented stores and the list that names them, and prints what a right reading gives. Pages come from
 * shops of 20,000 products, since Shopify shows none beyond 25,000; a file holds all products of one shop.
 */
import { mkdirSync } from "node:fs"
import { recordCsv, recordGoogle, recordShopify, writeStoreList } from "../../samples/storefronts/recordings.ts"
import { invented } from "../../samples/storefronts/store.ts"
import { writtenTogether } from "../../samples/storefronts/written.ts"
import type { Made, Task } from "./recordings.ts"

const { folder, kind, products } = JSON.parse(process.argv[2] ?? "{}") as Task
const seed = 20_261_120
const mostOfPages = 20_000

const storesOf = (most: number) =>
  Array.from({ length: Math.ceil(products / most) }, (_, i) =>
    invented({ products: Math.min(most, products - i * most), seed, number: i + 1 })
  )

const recordAll = () => {
  if (kind === "shopify") return storesOf(mostOfPages).map((store) => recordShopify(folder, store))
  return storesOf(products).map((store) =>
    kind === "shopify-csv" ? recordCsv(folder, store) : recordGoogle(folder, store)
  )
}

mkdirSync(folder, { recursive: true })
const recorded = recordAll()
writeStoreList(
  folder,
  recorded.map(({ store }) => store)
)
const written = writtenTogether(recorded.map((store) => store.written))
console.log(JSON.stringify({ stores: recorded.length, written } satisfies Made))
