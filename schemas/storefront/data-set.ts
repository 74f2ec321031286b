/** The data set as the API presents it. */
import type { ApiDataSet } from "../data-set.ts"
import { storefrontEndpoints } from "./endpoints.ts"

export const storefronts = {
  pipeline: "storefronts",
  tag: "Storefronts",
  holds: "storefront products",
  origin: "products of web shops",
  about: `Shops on the web, their products and collections, read from the feeds that they publish themselves.

Source: each store's own feed (\`platform\`): Shopify, product CSV, Google Merchant or WooCommerce. \`fetched_at\` says how old a store's rows are, and \`fetch_status\` how complete its last read was; only a complete read withdraws products. Prices are in the store's \`currency\`, and are never converted. Texts and pictures belong to the stores.`,
  firstCall: "stores?category=food_beverages_and_tobacco",
  scopes: ["search-stores", "get-store", "get-store-products", "get-store-collections", "get-product"],
  endpoints: storefrontEndpoints
} as const satisfies ApiDataSet
