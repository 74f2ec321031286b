/**
 * For benchmarks: writes invented stores as recordings for `--replay`, `<host>/<path as in the URL>[%3Fquery]`, in pieces: a store with a
 * million products is never in memory.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ListedStore } from "@larder/pipelines/storefronts/source/store-list.ts"
import { Sink } from "../branded-foods/sink.ts"
import { makeCollections } from "./collections.ts"
import { countGoogle, makeGoogleFeed } from "./google-merchant.ts"
import { countCsv, makeShopifyCsv } from "./shopify-csv.ts"
import {
  countShopify,
  makeShopifyCollections,
  makeShopifyMembers,
  makeShopifyMeta,
  makeShopifyPage,
  pageLimit,
  robotsText
} from "./shopify-json.ts"
import { getBaseUrl, market, type Store } from "./store.ts"
import type { Written } from "./written.ts"

/** The file for an address. Makes its folder. */
const prepareFile = (folder: string, address: string) => {
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
const makeListEntry = (store: Store, kind: ListedStore["kind"], location: string): ListedStore => ({
  domain: store.domain,
  name: store.name,
  kind,
  location,
  currency: market.currency,
  country: market.country,
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
  for (let page = 1; page <= pages; page++) writeFileSync(prepareFile(folder, address(page)), text(page))
}

/** At most 24,500 products: two empty pages after them must be within Shopify's limit. */
export const recordShopify = (folder: string, store: Store): Recorded => {
  const baseUrl = getBaseUrl(store)
  const collections = makeCollections(store)
  writeFileSync(prepareFile(folder, `${baseUrl}/robots.txt`), robotsText)
  // An empty query in the name, because code formatters would format a file that ends in .json.
  writeFileSync(prepareFile(folder, `${baseUrl}/meta.json?`), makeShopifyMeta(store))
  // Prices depend on the visitor's country, so it is fixed.
  const makeAddresses =
    (path: string): AddressOfPage =>
    (page) =>
      `${baseUrl}/${path}?limit=${pageLimit}&page=${page}&country=${market.country}`
  writePages(folder, makeAddresses("products.json"), [store.products, pageLimit], (page) =>
    makeShopifyPage(store, page)
  )
  writePages(folder, makeAddresses("collections.json"), [collections.length, pageLimit], (page) =>
    makeShopifyCollections(store, page)
  )
  for (const { handle, members } of collections) {
    const address = makeAddresses(`collections/${encodeURIComponent(handle)}/products.json`)
    writePages(folder, address, [members.length, pageLimit], (page) => makeShopifyMembers(store, handle, page) ?? "")
  }
  return { store: makeListEntry(store, "shopify", baseUrl), written: countShopify(store) }
}

/** Writes a file next to the recordings of hosts: paths in a store list are relative to this folder. */
export const recordCsv = (folder: string, store: Store): Recorded => {
  const location = `${store.domain}/products_export.csv`
  writePieces(join(folder, location), makeShopifyCsv(store))
  return { store: makeListEntry(store, "shopify-csv", location), written: countCsv(store) }
}

export const recordGoogle = (folder: string, store: Store): Recorded => {
  const location = `${getBaseUrl(store)}/feeds/google.xml`
  writeFileSync(prepareFile(folder, `${getBaseUrl(store)}/robots.txt`), robotsText)
  writePieces(prepareFile(folder, location), makeGoogleFeed(store))
  return { store: makeListEntry(store, "google-merchant", location), written: countGoogle(store) }
}

export const writeStoreList = (folder: string, stores: ReadonlyArray<ListedStore>) =>
  writeFileSync(join(folder, "stores.json"), `${JSON.stringify(stores, null, 2)}\n`)
