/**
 * What each field that is read means to its row, by the names of the feeds. A key or a substance that cannot be read
 * rejects the row: a substance never counts as absent. An optional field that cannot be read is null, also over an earlier
 * value, and never costs its row; what it said is recorded as an odd value.
 */
import type { exportColumns } from "./csv/shopify-columns.ts"
import type { FieldName } from "./google/field-names.ts"

export type Role = "key" | "substance" | "optional"

type Roles = Readonly<Record<string, Role>>

export const shopifyRoles = {
  product: {
    id: "key",
    title: "substance",
    variants: "substance",
    handle: "optional", // the id identifies the product
    vendor: "optional",
    product_type: "optional",
    tags: "optional",
    body_html: "optional",
    images: "optional",
    published_at: "optional",
    created_at: "optional"
  },
  variant: {
    id: "key",
    title: "substance",
    price: "substance",
    compare_at_price: "substance", // without it a reduced price would look like the usual one
    option1: "substance",
    option2: "substance",
    option3: "substance",
    sku: "optional", // the id identifies the variant
    barcode: "optional",
    grams: "optional",
    available: "optional",
    position: "optional",
    featured_image: "optional",
    requires_shipping: "optional"
  },
  picture: { src: "optional", position: "optional", width: "optional", height: "optional", variant_ids: "optional" },
  collection: {
    id: "key",
    title: "substance",
    handle: "substance", // part of the address of its members: without it they would all be removed
    description: "optional",
    image: "optional",
    published_at: "optional",
    updated_at: "optional"
  },
  /** The description of a shop. If a substance of it cannot be read, neither can the shop. */
  shop: {
    currency: "substance",
    country: "substance", // requests name it, and prices depend on it
    published_products_count: "substance", // reveals missing products
    published_collections_count: "substance",
    id: "optional",
    name: "optional",
    description: "optional",
    url: "optional",
    domain: "optional",
    myshopify_domain: "optional",
    province: "optional",
    city: "optional",
    language: "optional"
  }
} as const satisfies Readonly<Record<string, Roles>>

export const wooCommerceRoles = {
  product: {
    id: "key",
    name: "substance",
    prices: "substance",
    price: "substance",
    price_range: "substance",
    regular_price: "substance", // without it a reduced price would look like the usual one
    currency_code: "substance",
    slug: "optional", // the id identifies the product
    sku: "optional",
    brands: "optional",
    categories: "optional",
    tags: "optional",
    description: "optional",
    short_description: "optional",
    images: "optional",
    is_in_stock: "optional",
    is_purchasable: "optional"
  },
  /** A brand, category or tag. */
  term: { name: "optional" },
  picture: { src: "optional" }
} as const satisfies Readonly<Record<string, Roles>>

export const shopifyCsvRoles = {
  handle: "key",
  sku: "key", // distinguishes variants with the same options
  title: "substance",
  option1: "substance",
  option2: "substance",
  option3: "substance",
  price: "substance",
  compareAt: "substance",
  // a product whose state is not understood may be a draft
  published: "substance",
  status: "substance",
  body: "optional",
  vendor: "optional",
  type: "optional",
  tags: "optional",
  barcode: "optional",
  grams: "optional",
  tracker: "optional",
  quantity: "optional",
  policy: "optional",
  requiresShipping: "optional",
  image: "optional",
  imagePosition: "optional",
  variantImage: "optional",
  googleCategory: "optional",
  category: "optional",
  standardType: "optional"
} as const satisfies Readonly<Record<keyof typeof exportColumns, Role>>

export const googleRoles = {
  id: "key",
  item_group_id: "key",
  title: "substance",
  price: "substance",
  sale_price: "substance",
  sale_price_effective_date: "optional", // of a sale whose days are not understood, the usual price is read
  currency: "substance",
  size: "substance", // an option
  color: "substance",
  description: "optional",
  summary: "optional",
  content: "optional",
  link: "optional",
  image_link: "optional",
  additional_image_link: "optional",
  availability: "optional",
  brand: "optional",
  gtin: "optional",
  google_product_category: "optional",
  product_type: "optional",
  category: "optional",
  shipping_weight: "optional"
} as const satisfies Readonly<Record<FieldName, Role>>
