/**
 * Writes invented stores as recordings for `--replay`, `<host>/<path as in the URL>[%3Fquery]`, in pieces: a store with a
 * million products is never in memory.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ListedStore } from "@larder/pipelines"
import { Sink } from "../branded-foods/sink.ts"
import { makeCollections } from "./collections.ts"
import { countGoogle, type FeedForm, googleFeed } from "./google-merchant.ts"
import { type CsvForm, countCsv, shopifyCsv } from "./shopify-csv.ts"
import {
  countShopify,
  pageLimit,
  robotsText,
  shopifyCollections,
  shopifyMembers,
  shopifyMeta,
  shopifyPage
} from "./shopify-json.ts"
import { fullName, type Store } from "./store.ts"
import type { Written } from "./written.ts"

const plainCsv: CsvForm = { dialect: "classic", newline: "\n", byteOrderMark: false }
const plainFeed: FeedForm = { indent: "  ", newline: "\n", byteOrderMark: false }

const writeAt = (folder: string, address: string) => {
  const { host, href, pathname, search } = new URL(address)
  const query = href.endsWith("?") ? "?" : search
  const file = join(folder, host + pathname + query.replace("?", "%3F")) // Windows has no names with "?"
  mkdirSync(dirname(file), { recursive: true })
  return file
}

const writePieces = (file: string, pieces: Iterable<string>) => {
  mkdirSync(dirname(file), { recursive: true })
  const sink = new Sink(file)
  try {
    for (const piece of pieces) sink.write(piece)
  } finally {
    sink.close()
  }
}

/** The entry of a store in a store list. */
export const listed = (store: Store, kind: ListedStore["kind"], location: string): ListedStore => ({
  domain: store.domain,
  name: store.name,
  kind,
  location,
  currency: store.currency,
  country: store.country,
  language: "en"
})

export interface Recorded {
  readonly store: ListedStore
  readonly written: Written
}

type AddressOfPage = (page: number) => string

/** A list ends with two empty pages: pipelines request the second one to be sure. */
const writePages = (
  folder: string,
  address: AddressOfPage,
  [entries, limit]: readonly [number, number],
  text: (page: number) => string
) => {
  const pages = Math.ceil(entries / limit) + 2
  for (let page = 1; page <= pages; page++) writeFileSync(writeAt(folder, address(page)), text(page))
}

/** At most 24,500 products: two empty pages after them must be within Shopify's limit. */
export const recordShopify = (folder: string, store: Store): Recorded => {
  const at = fullName(store)
  const collections = makeCollections(store)
  writeFileSync(writeAt(folder, `${at}/robots.txt`), robotsText)
  // An empty query in the name, because code formatters would format a file that ends in .json.
  writeFileSync(writeAt(folder, `${at}/meta.json?`), shopifyMeta(store))
  // Prices depend on the visitor's country, so it is fixed.
  const pagesOf =
    (path: string): AddressOfPage =>
    (page) =>
      `${at}/${path}?limit=${pageLimit}&page=${page}&country=${store.country}`
  writePages(folder, pagesOf("products.json"), [store.products, pageLimit], (page) => shopifyPage(store, page))
  writePages(folder, pagesOf("collections.json"), [collections.length, pageLimit], (page) =>
    shopifyCollections(store, page)
  )
  for (const { handle, members } of collections) {
    const address = pagesOf(`collections/${encodeURIComponent(handle)}/products.json`)
    writePages(folder, address, [members.length, pageLimit], (page) => shopifyMembers(store, handle, page) ?? "")
  }
  return { store: listed(store, "shopify", at), written: countShopify(store) }
}

/** Writes a file next to the recordings of hosts: paths in a store list are relative to this folder. */
export const recordCsv = (folder: string, store: Store, form = plainCsv): Recorded => {
  const location = `${store.domain}/products_export.csv`
  writePieces(join(folder, location), shopifyCsv(store, form))
  return { store: listed(store, "shopify-csv", location), written: countCsv(store) }
}

export const recordGoogle = (folder: string, store: Store, form = plainFeed): Recorded => {
  const location = `${fullName(store)}/feeds/google.xml`
  writeFileSync(writeAt(folder, `${fullName(store)}/robots.txt`), robotsText)
  writePieces(writeAt(folder, location), googleFeed(store, form))
  return { store: listed(store, "google-merchant", location), written: countGoogle(store) }
}

export const writeStoreList = (folder: string, stores: ReadonlyArray<ListedStore>) =>
  writeFileSync(join(folder, "stores.json"), `${JSON.stringify(stores, null, 2)}\n`)
