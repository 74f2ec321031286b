/**
 * Writes recordings of invented stores with their store list, and prints the rows that a correct run loads. Stores with
 * pages have 20,000 products each, because Shopify lists at most 25,000. A file contains all products of one store.
 */
import { mkdirSync } from "node:fs"
import { recordCsv, recordGoogle, recordShopify, writeStoreList } from "../../samples/storefronts/recordings.ts"
import { inventStore } from "../../samples/storefronts/store.ts"
import { addCounts } from "../../samples/storefronts/written.ts"
import type { Task, WrittenRecordings } from "./recordings.ts"

const { folder, kind, products } = JSON.parse(process.argv[2] ?? "{}") as Task
const seed = 20_261_120
const maxInPages = 20_000

const makeStores = (max: number) =>
  Array.from({ length: Math.ceil(products / max) }, (_, i) =>
    inventStore({ products: Math.min(max, products - i * max), seed, number: i + 1 })
  )

const recordAll = () => {
  if (kind === "shopify") return makeStores(maxInPages).map((store) => recordShopify(folder, store))
  return makeStores(products).map((store) =>
    kind === "shopify-csv" ? recordCsv(folder, store) : recordGoogle(folder, store)
  )
}

mkdirSync(folder, { recursive: true })
const recorded = recordAll()
writeStoreList(
  folder,
  recorded.map(({ store }) => store)
)
const written = addCounts(recorded.map((store) => store.written))
console.log(JSON.stringify({ stores: recorded.length, written } satisfies WrittenRecordings))
