/** The storefront data set as the API presents it, with its five endpoints. */
import { type ApiDataSet, endpoint, PageBody, SingleBody } from "../endpoint.ts"
import { country, cursor, limit, text } from "../parameters.ts"
import * as examples from "./examples.ts"
import { Collection, ProductDetail, ProductSummary, Store } from "./records.ts"

const pageLimit = (rows: string) =>
  limit({ description: `${rows} per page.`, default: 50, maximum: 200, aboveMaximum: "served as the maximum" })

export const searchStores = endpoint({
  id: "searchStores",
  path: "/v1/stores",
  scope: "search-stores",
  credits: 100,
  tag: "Storefronts",
  summary: "Search stores",
  description:
    "Stores that match every given filter, ordered by name; without filters, all of them, including stores that have not been read successfully yet.",
  use: "Use it first for storefronts: it returns the store ids for the other store tools.",
  parameters: {
    query: text({
      description: "The name or the domain contains the text, literally and ignoring case.",
      example: "bakery"
    }),
    category: text({
      description: "One of the store's categories equals this token.",
      example: "food_beverages_and_tobacco"
    }),
    country: country({ description: "The store's country.", example: "GB" }),
    limit: pageLimit("Stores"),
    cursor
  },
  response: PageBody(Store),
  examples: examples.searchStoresExamples,
  refusals: []
})

export const getStore = endpoint({
  id: "getStore",
  path: "/v1/stores/:id",
  scope: "get-store",
  credits: 100,
  tag: "Storefronts",
  summary: "One store",
  description:
    "One store by its id: its description of itself, how many of its products and collections are available, and how recent they are.",
  use: "Use it for a store whose id is known. Rows of search_stores already contain all of it.",
  parameters: {},
  response: SingleBody(Store),
  examples: examples.getStoreExamples,
  refusals: [],
  record: "store"
})

export const getStoreProducts = endpoint({
  id: "getStoreProducts",
  path: "/v1/stores/:id/products",
  scope: "get-store-products",
  credits: 100,
  tag: "Storefronts",
  summary: "Products of a store",
  description:
    "The products that the store lists, the newest publication first, those without a publication time last, as summaries. The product endpoint adds texts, images and variants.",
  use: "Use it to list what a store sells, with price ranges. The id comes from search_stores. A large `limit` saves money: every page costs the same.",
  parameters: { limit: pageLimit("Products"), cursor },
  response: PageBody(ProductSummary),
  examples: examples.getStoreProductsExamples,
  refusals: [],
  record: "store"
})

export const getStoreCollections = endpoint({
  id: "getStoreCollections",
  path: "/v1/stores/:id/collections",
  scope: "get-store-collections",
  credits: 100,
  tag: "Storefronts",
  summary: "Collections of a store",
  description:
    "The groups in which the store shows its products, the newest publication first, those without a publication time last. Only some kinds of feed have them; for others, the list is empty.",
  use: "Use it to see how a store groups its products. The id comes from search_stores. It does not list the products of a collection.",
  parameters: { limit: pageLimit("Collections"), cursor },
  response: PageBody(Collection),
  examples: examples.getStoreCollectionsExamples,
  refusals: [],
  record: "store"
})

export const getProduct = endpoint({
  id: "getProduct",
  path: "/v1/products/:id",
  scope: "get-product",
  credits: 100,
  tag: "Storefronts",
  summary: "One product",
  description: "One product by its id, with its text, its images and its variants; prices are in `price.currency`.",
  use: "Use it for one product's text, images and variants with their prices. The id comes from get_store_products.",
  parameters: {},
  response: SingleBody(ProductDetail),
  examples: examples.getProductExamples,
  refusals: [],
  record: "product"
})

export const storefronts = {
  pipeline: "storefronts",
  tag: "Storefronts",
  contents: "storefront products",
  origin: "products of web shops",
  about: `Shops on the web, their products and collections, read from the feeds that they publish themselves.

Source: each store's own feed (\`platform\`): Shopify, product CSV, Google Merchant or WooCommerce. \`fetched_at\` shows how old a store's rows are, and \`fetch_status\` how complete its last read was; missing products are withdrawn only if the whole product list was read. Prices are in the store's \`currency\`, and are never converted. Texts and pictures belong to the stores.`,
  firstCall: "stores?category=food_beverages_and_tobacco",
  endpoints: [searchStores, getStore, getStoreProducts, getStoreCollections, getProduct]
} as const satisfies ApiDataSet
