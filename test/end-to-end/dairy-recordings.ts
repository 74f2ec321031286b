/**
 * Recordings of consecutive reads of three stores: a dairy, a creamery that loses its products, and a bakery that never
 * changes. Also computes the expected ids.
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

interface Offer {
  readonly price: string
  readonly former?: string
  readonly available?: boolean
}

/** Prices of the variants of each product, by their ids. */
type Shelf = Readonly<Record<number, Readonly<Record<number, Offer>>>>

const makePage = (shelf: Shelf, updated_at: string) => ({
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
    variants: Object.entries(variants).map(([variant, { available = true, former = null, price }], index) => ({
      id: Number(variant),
      title: `Size ${variant}`,
      option1: `Size ${variant}`,
      price,
      compare_at_price: former,
      available,
      position: index + 1,
      updated_at
    }))
  }))
})

const cheeses = { id: 900, title: "Cheeses", handle: "cheeses", description: "", image: null, products_count: 77 }
const makeMembers = (shelf: Shelf) => ({
  [`${domain}/collections/cheeses/products.json?limit=250&page=1`]: makePage(shelf, ""),
  [`${domain}/collections/cheeses/products.json?limit=250&page=2`]: { products: [] }
})

const makeStore = (shelf: Shelf, updated_at = "2026-10-01T00:00:00Z") => ({
  ...shopifyPages(domain, [makePage(shelf, updated_at)], { collections: [cheeses] }),
  ...makeMembers(shelf)
})

const offer = { price: "9.50" }
export const fullShelf: Shelf = {
  1: { 11: offer },
  2: { 21: offer, 22: offer },
  3: { 31: offer },
  4: { 41: offer },
  5: { 51: offer },
  6: { 61: offer }
}
const changed: Shelf = {
  ...fullShelf,
  1: { 11: { price: "8.00", former: "9.50" } },
  2: { 21: offer, 22: { ...offer, available: false } }
}
const fewer: Shelf = { 1: changed[1] ?? {}, 2: { 21: offer }, 3: { 31: offer }, 4: { 41: offer }, 5: { 51: offer } }
const restored: Shelf = { ...fewer, 2: changed[2] ?? {}, 6: { 61: { price: "7.25" } } }

/** The creamery with its four products, with one without a title, and with only one product. */
const fourCheeses: Shelf = { 1: { 1: offer }, 2: { 2: offer }, 3: { 3: offer }, 4: { 4: offer } }
const makeCreamery = (...pages: ReadonlyArray<unknown>) => shopifyPages(creamery, pages)
const untitled = makePage(fourCheeses, "").products.map((product) =>
  product.id === 4 ? { ...product, title: "" } : product
)
const shrunk = makeCreamery(makePage({ 1: { 1: offer } }, ""))

/** Recordings of each read: the stores, or those of them that respond. */
export const reads = {
  first: { ...makeStore(fullShelf), ...makeCreamery(makePage(fourCheeses, "")) },
  same: { ...makeStore(fullShelf, "2026-10-02T00:00:00Z"), ...makeCreamery({ products: untitled }) },
  changed: { ...makeStore(changed), ...shrunk },
  fewer: { ...makeStore(fewer), ...shrunk },
  partial: {
    ...shrunk,
    [`${domain}/products.json?limit=250&page=1`]: makePage({ 1: { 11: { price: "7.00" } } }, "") // and no second page
  },
  failed: shrunk,
  restored: { ...makeStore(restored), ...shrunk }
}
export type ReadName = keyof typeof reads
export const readNames = Object.keys(reads) as ReadonlyArray<ReadName> // keys of a literal object

/** Ids derive only from the domain and the feed's own ids. */
export const makeId = (kind: string, ...native: ReadonlyArray<string | number>) => {
  const text = [kind, domain, native.length === 0 ? "" : native.join("\n")].join("\n")
  return `platform_${kind}_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`
}
export const productId = (id: number) => makeId("product", id)
export const nameOf = new Map(
  Object.entries(fullShelf).flatMap(([product, variants]) =>
    Object.keys(variants).map((variant) => [makeId("variant", product, variant), variant] as const)
  )
)
