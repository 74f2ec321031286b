/** Runs the program on recordings of stores, and reads its results from the warehouse. */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { type Environment, run } from "../support/programs.ts"
import { query } from "./ingesting.ts"

export interface Listed {
  readonly domain: string
  readonly name: string
  readonly kind: "shopify" | "shopify-csv" | "google-merchant" | "woocommerce"
  readonly location: string
  readonly currency?: string
  readonly country?: string
}

/** Files of a folder by name. Values other than texts are written as JSON. */
export type Files = Readonly<Record<string, unknown>>

export const writeFiles = (folder: string, files: Files) => {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
  }
  return folder
}

/** Makes the recordings of a Shopify store: each page of its list, two empty pages, and its collections. */
export const shopifyPages = (
  domain: string,
  pages: ReadonlyArray<unknown>,
  { country, ...others }: { readonly country?: string; readonly collections?: ReadonlyArray<unknown> } = {}
): Files => {
  const parameter = country === undefined ? "" : `&country=${country}`
  const listed = [...pages, { products: [] }, { products: [] }]
  return {
    ...Object.fromEntries(
      listed.map((page, index) => [`${domain}/products.json?limit=250&page=${index + 1}${parameter}`, page])
    ),
    [`${domain}/collections.json?limit=250&page=1${parameter}`]: { collections: others.collections ?? [] },
    [`${domain}/collections.json?limit=250&page=2${parameter}`]: { collections: [] }
  }
}

export const ingestStores = (home: string, args: ReadonlyArray<string>, environment: Environment = {}) =>
  run("larder-ingest", ["storefronts", "--json", ...args], { LARDER_HOME: home, ...environment })

export const replayStores = (home: string, folder: string) => ingestStores(home, ["--replay", folder])

export type Row = Readonly<Record<string, unknown>>

/** Returns the rows of one query. */
export const rowsOf = async (home: string, sql: string): Promise<ReadonlyArray<Row>> =>
  (await query(home, sql))[0] ?? []

/** Returns how the last read of each store ended, such as `complete complete` or `partial broken_off`. */
export const outcomesOf = async (home: string) => {
  const rows = await rowsOf(
    home,
    "select domain, fetch_status || ' ' || outcome as ended from storefront.store join storefront.store_status using (store_id)"
  )
  return Object.fromEntries(rows.map(({ domain, ended }) => [String(domain), String(ended)]))
}
