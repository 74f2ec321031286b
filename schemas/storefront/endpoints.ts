/** The five storefront endpoints. */
import { endpoint, Page, Single } from "../endpoint.ts"
import { country, cursor, limit, text } from "../parameters.ts"
import { Collection, ProductDetail, ProductSummary, Store } from "./records.ts"

const pageOf = (rows: string) =>
  limit({ description: `${rows} per page.`, default: 50, maximum: 200, above: "served as the maximum" })

export const searchStores = endpoint({
  id: "searchStores",
  path: "/v1/stores",
  scope: "search-stores",
  credits: 100,
  tag: "Storefronts",
  summary: "Search stores",
  description: "Stores that pass every given filter, ordered by name. Without filters, all of them.",
  parameters: {
    query: text({
      description: "The name or the domain contains the text, literally and ignoring case.",
      example: "bakery"
    }),
    category: text({
      description: "Any of the store's categories is this token.",
      example: "food_beverages_and_tobacco"
    }),
    country: country({ description: "The store's country.", example: "US" }),
    limit: pageOf("Stores"),
    cursor
  },
  response: Page(Store),
  invalidMessages: [],
  order: ["name", "id"]
})

export const getStore = endpoint({
  id: "getStore",
  path: "/v1/stores/:id",
  scope: "get-store",
  credits: 100,
  tag: "Storefronts",
  summary: "One store",
  description: "One store by its id.",
  parameters: {},
  response: Single(Store),
  invalidMessages: [],
  record: "store"
})

export const getStoreProducts = endpoint({
  id: "getStoreProducts",
  path: "/v1/stores/:id/products",
  scope: "get-store-products",
  credits: 100,
  tag: "Storefronts",
  summary: "Products of a store",
  description: "The store's products, the newest publication first, those without a publication time last.",
  parameters: { limit: pageOf("Products"), cursor },
  response: Page(ProductSummary),
  invalidMessages: [],
  record: "store",
  order: ["published_at", "id"]
})

export const getStoreCollections = endpoint({
  id: "getStoreCollections",
  path: "/v1/stores/:id/collections",
  scope: "get-store-collections",
  credits: 100,
  tag: "Storefronts",
  summary: "Collections of a store",
  description: "The store's collections, the newest publication first, those without a publication time last.",
  parameters: { limit: pageOf("Collections"), cursor },
  response: Page(Collection),
  invalidMessages: [],
  record: "store",
  order: ["published_at", "id"]
})

export const getProduct = endpoint({
  id: "getProduct",
  path: "/v1/products/:id",
  scope: "get-product",
  credits: 100,
  tag: "Storefronts",
  summary: "One product",
  description: "One product by its id, with its gallery and its variants.",
  parameters: {},
  response: Single(ProductDetail),
  invalidMessages: [],
  record: "product"
})
