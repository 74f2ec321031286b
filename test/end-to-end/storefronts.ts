/** Runs over stores by the program itself: their recordings as a folder, and what they left in the warehouse. */
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

/** Files of a folder by their names; what is no text is written as JSON. */
export type Files = Readonly<Record<string, unknown>>

export const writeFiles = (folder: string, files: Files) => {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
  }
  return folder
}

/** A store on Shopify and what is recorded of it: each page of its list, the first empty one, and its collections. */
export const shopifyPages = (
  domain: string,
  pages: ReadonlyArray<unknown>,
  { country, ...others }: { readonly country?: string; readonly collections?: ReadonlyArray<unknown> } = {}
): Files => {
  const pin = country === undefined ? "" : `&country=${country}`
  const listed = [...pages, { products: [] }, { products: [] }]
  return {
    ...Object.fromEntries(
      listed.map((page, index) => [`${domain}/products.json?limit=250&page=${index + 1}${pin}`, page])
    ),
    [`${domain}/collections.json?limit=250&page=1${pin}`]: { collections: others.collections ?? [] },
    [`${domain}/collections.json?limit=250&page=2${pin}`]: { collections: [] }
  }
}

export const ingestStores = (home: string, args: ReadonlyArray<string>, environment: Environment = {}) =>
  run("larder-ingest", ["storefronts", "--json", ...args], { LARDER_HOME: home, ...environment })

export const replayStores = (home: string, folder: string) => ingestStores(home, ["--replay", folder])

export type Row = Readonly<Record<string, unknown>>

/** Rows of one query. */
export const rowsOf = async (home: string, sql: string): Promise<ReadonlyArray<Row>> =>
  (await query(home, sql))[0] ?? []

/** How the last read of each store ended: `complete complete`, `partial broken_off`. */
export const outcomesOf = async (home: string) => {
  const rows = await rowsOf(
    home,
    "select domain, fetch_status || ' ' || outcome as ended from storefront.store join storefront.store_status using (store_id)"
  )
  return Object.fromEntries(rows.map(({ domain, ended }) => [String(domain), String(ended)]))
}
