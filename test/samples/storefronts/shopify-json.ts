/**
 * Responses of a Shopify store: `/products.json`, `/collections.json`, `/collections/<handle>/products.json`, `/meta.json`
 * and `/robots.txt`. Encoded like real ones: `<` as `\u003c`, `/` as `\/`, one `updated_at` for a whole page.
 */
import { type Collection, makeCollections } from "./collections.ts"
import { makeProducts, type Picture, type Product } from "./product.ts"
import { formatLocalTime, formatMoney, getBaseUrl, market, type Store } from "./store.ts"
import type { Variant } from "./variants.ts"
import { Tally, type Written } from "./written.ts"

export const pageLimit = 250

const encodeJson = (value: unknown) =>
  JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll("/", "\\/")
    .replaceAll("\u00a0", "\\u00a0")

/** The same second for a whole page; later pages have later times. */
const getResponseTime = (page: number) => formatLocalTime(Date.parse("2026-11-20T06:30:00Z") + (page - 1) * 3_000)

const makeFeaturedImage = (
  product: Product,
  picture: number,
  times: { readonly created_at: string; readonly updated_at: string }
) => {
  const found = product.pictures[picture]
  if (!found) return null
  const ids = product.variants.filter((variant) => variant.picture === picture).map(({ id }) => id)
  const { height, id, src, width } = found
  return {
    id,
    product_id: product.id,
    position: picture + 1,
    ...times,
    alt: null,
    width,
    height,
    src,
    variant_ids: ids
  }
}

const makeVariant = (
  product: Product,
  { available, cents, compare, grams, id, picture, sku, values }: Variant,
  place: number,
  times: { readonly created_at: string; readonly updated_at: string }
) => ({
  id,
  title: values.length === 0 ? "Default Title" : values.join(" / "),
  option1: values[0] ?? "Default Title",
  option2: values[1] ?? null,
  option3: values[2] ?? null,
  sku,
  requires_shipping: product.ships,
  taxable: product.ships,
  featured_image: picture === null ? null : makeFeaturedImage(product, picture, times),
  available,
  price: formatMoney(cents),
  grams,
  compare_at_price: compare === null ? null : formatMoney(compare),
  position: place + 1,
  product_id: product.id,
  ...times
})

const makeImage = (
  product: Product,
  { height, id, src, width }: Picture,
  place: number,
  created_at: string,
  changed: string
) => ({
  id,
  created_at,
  position: place + 1,
  updated_at: changed,
  product_id: product.id,
  variant_ids: product.variants.filter(({ picture }) => picture === place).map((variant) => variant.id),
  src,
  width,
  height
})

const makeProductEntry = (product: Product, updated_at: string) => {
  const created_at = formatLocalTime(product.created)
  const times = { created_at, updated_at }
  const changed = formatLocalTime(product.created + 2_000)
  const options = product.options.length === 0 ? [{ name: "Title", values: ["Default Title"] }] : product.options
  return {
    id: product.id,
    title: product.title,
    handle: product.handle,
    body_html: product.body,
    published_at: formatLocalTime(product.published),
    created_at,
    updated_at,
    vendor: product.vendor,
    product_type: product.type,
    tags: product.tags,
    variants: product.variants.map((variant, place) => makeVariant(product, variant, place, times)),
    images: product.pictures.map((picture, place) => makeImage(product, picture, place, created_at, changed)),
    options: options.map(({ name, values }, place) => ({ name, position: place + 1, values }))
  }
}

const makePage = (products: Iterable<Product>, page: number) => {
  const updated = getResponseTime(page)
  return encodeJson({ products: Array.from(products, (product) => makeProductEntry(product, updated)) })
}

/** The first page is 1. Pages after the last one are empty. */
export const makeShopifyPage = (store: Store, page: number, limit = pageLimit) =>
  makePage(makeProducts(store, (page - 1) * limit, limit), page)

const makeCollectionEntry = (
  store: Store,
  { description, handle, hasImage, id, members, title }: Collection,
  page: number
) => {
  const published = Date.UTC(2021, 1, 3, 9) + (id % 1_000) * 86_400_000
  const src = `${getBaseUrl(store)}/cdn/shop/collections/${id}.jpg?v=1612342800`
  return {
    id,
    title,
    handle,
    description,
    published_at: formatLocalTime(published),
    updated_at: getResponseTime(page),
    image: hasImage ? { id: id + 7, created_at: formatLocalTime(published), src, alt: title } : null,
    products_count: members.length + (hasImage ? 3 : 0) // also counts products that are not on sale
  }
}

export const makeShopifyCollections = (store: Store, page: number, limit = pageLimit) => {
  const shown = makeCollections(store).slice((page - 1) * limit, page * limit)
  return encodeJson({ collections: shown.map((collection) => makeCollectionEntry(store, collection, page)) })
}

/** Products of a collection; undefined if there is none with this handle. */
export const makeShopifyMembers = (store: Store, handle: string, page: number, limit = pageLimit) => {
  const found = makeCollections(store).find((collection) => collection.handle === handle)
  return found && makePage(found.members.slice((page - 1) * limit, page * limit), page)
}

export const makeShopifyMeta = (store: Store) =>
  encodeJson({
    id: 50_000_000_000 + store.number,
    name: store.name,
    city: market.city,
    province: "",
    country: market.country,
    currency: market.currency,
    domain: store.domain,
    url: getBaseUrl(store),
    myshopify_domain: `${store.domain.replace(".example", "")}.myshopify.example`,
    description: `What ${store.name} makes & sells`,
    ships_to_countries: [market.country],
    money_format: `{{amount}} ${market.currency}`,
    published_collections_count: makeCollections(store).length,
    published_products_count: store.products,
    shopify_pay_enabled_card_brands: [],
    offers_shop_pay_installments: false
  })

export const robotsText = [
  "User-agent: *",
  "Disallow: /admin",
  "Disallow: /cart",
  "Disallow: /checkout",
  "Disallow: /search",
  "Disallow: /policies/",
  "Disallow: /collections/*sort_by*",
  "",
  "User-agent: impatient-robot",
  "Crawl-delay: 10",
  "Disallow: /",
  ""
].join("\n")

export const countShopify = (store: Store): Written => {
  const tally = new Tally()
  for (const { pictures, variants } of makeProducts(store)) {
    tally.rows += 1
    tally.products += 1
    tally.images += pictures.length
    for (const { available, cents, compare } of variants) tally.addVariant(cents, compare, available)
  }
  return tally.written
}
