/**
 * Writes the bundled stores: `node test/samples/storefronts/generate.ts [OUT_DIR]`, by default to
 * `pipelines/storefronts/samples`. Three invented stores with their store list. Fixed seed, no clock, no network.
 */
import { readdirSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { recordCsv, recordGoogle, recordShopify, writeStoreList } from "./recordings.ts"
import type { Store } from "./store.ts"

const common = { seed: 20_261_120, minutes_apart: 41_017, responded_at: "2026-11-20T06:30:00Z" }

export const meadowDairy: Store = {
  ...common,
  domain: "meadow-dairy.example",
  name: "Meadow Dairy",
  theme: "dairy",
  number: 101,
  products: 60,
  currency: "EUR",
  country: "IE",
  city: "Ballymeadow",
  utc_offset: 0
}

const harbourBakery: Store = {
  ...common,
  domain: "harbour-bakery.example",
  name: "Harbour Bakery",
  theme: "bakery",
  number: 202,
  products: 48,
  currency: "GBP",
  country: "GB",
  city: "Harbourton",
  utc_offset: 0
}

const orchardPantry: Store = {
  ...common,
  domain: "orchard-pantry.example",
  name: "Orchard Pantry",
  theme: "pantry",
  number: 303,
  products: 40,
  currency: "USD",
  country: "US",
  city: "Orchard Falls",
  utc_offset: -300
}

export const sampleStores: ReadonlyArray<Store> = [meadowDairy, harbourBakery, orchardPantry]

/** Also writes the rows that a correct run loads from each store. */
export const writeSamples = (folder: string) => {
  for (const { domain } of sampleStores) rmSync(join(folder, domain), { recursive: true, force: true })
  const recorded = [
    recordShopify(folder, meadowDairy),
    recordCsv(folder, harbourBakery),
    recordGoogle(folder, orchardPantry)
  ]
  writeStoreList(
    folder,
    recorded.map(({ store }) => store)
  )
  return recorded
}

/** Files in a folder and its subfolders, with their bytes, by name. */
const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => ({ name, found: statSync(join(folder, name)) }))
    .filter(({ found }) => found.isFile())
    .map(({ found, name }) => ({ name, bytes: found.size }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../../pipelines/storefronts/samples"))
  for (const { store, written } of writeSamples(folder)) {
    const files = listFiles(join(folder, store.domain))
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    process.stdout.write(`${store.domain}: ${files.length} files, ${bytes} bytes, ${JSON.stringify(written)}\n`)
  }
}
