/**
 * Recordings of reads of a dairy, one after the other, of a creamery that loses its products, and of a bakery that never changes;
 * ids as they must become.
 */
import { createHash } from "node:crypto"
import { shopifyPages } from "./storefronts.ts"

export const domain = "dairy.example"
export const creamery = "creamery.example"
export const bakery = "bakery.example"
export const stores = [
  { domain, name: "Dairy", kind: "shopify", location: `https://${domain}`, currency: "EUR" },
  { domain: creamery, name: "Creamery", kind: "shopify", location: `https://${creamery}`, currency: "EUR" },
  { domain: bakery, name: "Bakery", kind: "shopify-csv", location: "bakery.csv", currency: "GBP" }
]
export const bakeryExport = `Handle,Title,Option1 Value,Variant Price
rye,Rye bread,Small,2.50
rye,,Large,4.50
spelt,Spelt bread,Default Title,3.20
`

interface Sold {
  readonly price: string
  readonly before?: string
  readonly available?: boolean
}

/** Prices of the variants of each product, by their ids. */
type Shelf = Readonly<Record<number, Readonly<Record<number, Sold>>>>

const pageOf = (shelf: Shelf, updated_at: string) => ({
  products: Object.entries(shelf).map(([id, variants]) => ({
    id: Number(id),
    title: `Cheese ${id}`,
    handle: `cheese-${id}`,
    body_html: "<p>Matured.</p>",
    published_at: `2026-06-0${id}T18:11:05+05:30`,
    created_at: "2026-06-01T00:00:00Z",
    updated_at,
    vendor: "Dairy",
    product_type: "Cheese",
    tags: ["aged"],
    images: [
      { id: 1, position: 1, src: `https://cdn.dairy.example/${id}.jpg`, width: 10, height: 20, variant_ids: [] }
    ],
    options: [],
    variants: Object.entries(variants).map(([variant, { available = true, before = null, price }], index) => ({
      id: Number(variant),
      title: `Size ${variant}`,
      option1: `Size ${variant}`,
      price,
      compare_at_price: before,
      available,
      position: index + 1,
      updated_at
    }))
  }))
})

const cheeses = { id: 900, title: "Cheeses", handle: "cheeses", description: "", image: null, products_count: 77 }
const members = (shelf: Shelf) => ({
  [`${domain}/collections/cheeses/products.json?limit=250&page=1`]: pageOf(shelf, ""),
  [`${domain}/collections/cheeses/products.json?limit=250&page=2`]: { products: [] }
})

const whole = (shelf: Shelf, updated_at = "2026-10-01T00:00:00Z") => ({
  ...shopifyPages(domain, [pageOf(shelf, updated_at)], { collections: [cheeses] }),
  ...members(shelf)
})

const one = { price: "9.50" }
export const all: Shelf = {
  1: { 11: one },
  2: { 21: one, 22: one },
  3: { 31: one },
  4: { 41: one },
  5: { 51: one },
  6: { 61: one }
}
const changed: Shelf = {
  ...all,
  1: { 11: { price: "8.00", before: "9.50" } },
  2: { 21: one, 22: { ...one, available: false } }
}
const fewer: Shelf = { 1: changed[1] ?? {}, 2: { 21: one }, 3: { 31: one }, 4: { 41: one }, 5: { 51: one } }
const again: Shelf = { ...fewer, 2: changed[2] ?? {}, 6: { 61: { price: "7.25" } } }

/** The creamery with its four products, with one that has lost its title, and with one product alone. */
const four: Shelf = { 1: { 1: one }, 2: { 2: one }, 3: { 3: one }, 4: { 4: one } }
const creameryWith = (...pages: ReadonlyArray<unknown>) => shopifyPages(creamery, pages)
const untitled = pageOf(four, "").products.map((product) => (product.id === 4 ? { ...product, title: "" } : product))
const shrunk = creameryWith(pageOf({ 1: { 1: one } }, ""))

/** Recordings of each read: the stores, or the part of them that answers. */
export const reads = {
  first: { ...whole(all), ...creameryWith(pageOf(four, "")) },
  same: { ...whole(all, "2026-10-02T00:00:00Z"), ...creameryWith({ products: untitled }) },
  changed: { ...whole(changed), ...shrunk },
  fewer: { ...whole(fewer), ...shrunk },
  partial: {
    ...shrunk,
    [`${domain}/products.json?limit=250&page=1`]: pageOf({ 1: { 11: { price: "7.00" } } }, "") // and no second page
  },
  failed: shrunk,
  again: { ...whole(again), ...shrunk }
}
export type Name = keyof typeof reads
export const names = Object.keys(reads) as ReadonlyArray<Name> // keys of a literal object

/** Ids derive from the domain and from what the feed calls a thing, and from nothing else. */
export const idOf = (kind: string, ...native: ReadonlyArray<string | number>) => {
  const text = [kind, domain, native.length === 0 ? "" : native.join("\n")].join("\n")
  return `platform_${kind}_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`
}
export const productId = (id: number) => idOf("product", id)
export const nameOf = new Map(
  Object.entries(all).flatMap(([product, variants]) =>
    Object.keys(variants).map((variant) => [idOf("variant", product, variant), variant] as const)
  )
)
