/** Example calls of the storefront endpoints and their responses, from the bundled samples, whose stores are made up. */
import type { Examples } from "../endpoint.ts"

const picture = (path: string, width: number | null, height: number | null) => ({
  src: `https://meadow-dairy.example/cdn/shop/${path}`,
  width,
  height
})

const iceCream = (id: string, size: string, price: number, position: number) => ({
  id,
  title: size,
  sku: null,
  price,
  compare_at_price: null,
  grams: null,
  available: true,
  option1: size,
  option2: null,
  option3: null,
  position,
  image_src: null
})

const meadowDairy = {
  id: "platform_store_83d7d8b661268d19b786a47d",
  name: "Meadow Dairy",
  domain: "meadow-dairy.example",
  url: "https://meadow-dairy.example",
  description: "What Meadow Dairy makes & sells",
  country: "IE",
  currency: "EUR",
  language: "en",
  category: "food_beverages_and_tobacco",
  categories: [
    { category: "food_beverages_and_tobacco", product_count: 56 },
    { category: "home_and_garden", product_count: 3 },
    { category: "arts_and_entertainment", product_count: 1 }
  ],
  product_count: 60,
  collection_count: 4,
  fetch_status: "complete",
  first_seen_at: "2026-11-22T09:00:00.000Z",
  fetched_at: "2026-11-22T09:00:00.000Z",
  source: "platform"
}

export const searchStoresExamples: Examples = {
  search: {
    summary: "The first store with products in a category",
    target: "/v1/stores?category=home_and_garden&limit=1",
    body: {
      data: [meadowDairy],
      next_cursor: "i17M_5LW_QJrr7EEWyJtZWFkb3cgZGFpcnkiLCJwbGF0Zm9ybV9zdG9yZV84M2Q3ZDhiNjYxMjY4ZDE5Yjc4NmE0N2QiXQ"
    }
  }
}

export const getStoreExamples: Examples = {
  store: {
    summary: "One store",
    target: "/v1/stores/platform_store_83d7d8b661268d19b786a47d",
    body: { data: meadowDairy }
  }
}

export const getStoreProductsExamples: Examples = {
  products: {
    summary: "The newest product",
    target: "/v1/stores/platform_store_83d7d8b661268d19b786a47d/products?limit=1",
    body: {
      data: [
        {
          id: "platform_product_810c187d177f0694778249b9",
          title: "Farmhouse Damson Ice Cream",
          handle: "farmhouse-damson-ice-cream",
          vendor: "Meadow Dairy",
          product_type: "Frozen",
          category: "food_beverages_and_tobacco",
          sub_category: "frozen_desserts_and_novelties",
          tags: [],
          image: picture("files/farmhouse-damson-ice-cream-front.jpg?v=1610003599", 1440, 2200),
          price: { min: 6.35, max: 6.35, currency: "EUR" },
          variant_count: 1,
          published_at: "2025-10-06T20:23:59.000Z",
          source: "platform"
        }
      ],
      next_cursor:
        "W0H3ZDuPAK-DlU9PWyIxNzU5NzgyMjM5MDAwMDAwIiwicGxhdGZvcm1fcHJvZHVjdF84MTBjMTg3ZDE3N2YwNjk0Nzc4MjQ5YjkiXQ"
    }
  }
}

export const getStoreCollectionsExamples: Examples = {
  collections: {
    summary: "The newest two collections",
    target: "/v1/stores/platform_store_83d7d8b661268d19b786a47d/collections?limit=2",
    body: {
      data: [
        {
          id: "platform_collection_23e03d4da9dd08dd3188ab72",
          title: "Coming Soon",
          handle: "coming-soon",
          description: null,
          image: null,
          product_count: 0,
          published_at: "2023-10-30T09:00:00.000Z",
          updated_at: null,
          source: "platform"
        },
        {
          id: "platform_collection_656e73c924d883b6082c0cbd",
          title: "Gifts",
          handle: "gifts",
          description: "For people who like cheese.",
          image: picture("collections/270101000074.jpg?v=1612342800", null, null),
          product_count: 9,
          published_at: "2021-04-18T09:00:00.000Z",
          updated_at: null,
          source: "platform"
        }
      ],
      next_cursor:
        "VNUsTtzPzaFU5H_fWyIxNjE4NzM2NDAwMDAwMDAwIiwicGxhdGZvcm1fY29sbGVjdGlvbl82NTZlNzNjOTI0ZDg4M2I2MDgyYzBjYmQiXQ"
    }
  }
}

export const getProductExamples: Examples = {
  product: {
    summary: "A product with two variants",
    target: "/v1/products/platform_product_c6599aeb61905d1755550078",
    body: {
      data: {
        id: "platform_product_c6599aeb61905d1755550078",
        title: "Ice Cream",
        handle: "ice-cream",
        vendor: "Nine Cows",
        product_type: "Frozen",
        category: "food_beverages_and_tobacco",
        sub_category: "frozen_desserts_and_novelties",
        tags: ["organic", "chilled"],
        image: picture("files/ice-cream-front.jpg?v=1610003294", 2520, 2640),
        price: { min: 5.75, max: 10.55, currency: "EUR" },
        variant_count: 2,
        published_at: "2025-05-17T10:18:22.000Z",
        source: "platform",
        store_id: "platform_store_83d7d8b661268d19b786a47d",
        body_text:
          "For people who thought they did not care for ice cream.\n\nGood to know\n\n- Recyclable packaging\n- Small producer & fair price\n- From a farm within 20 km\n\nNothing goes in that you would not find in your own kitchen.",
        images: [
          picture("files/ice-cream-front.jpg?v=1610003294", 2520, 2640),
          picture("files/ice-cream-detail_9.jpg?v=1610003295", 2600, 1640)
        ],
        variants: [
          iceCream("platform_variant_2de36591d2377f40d7e2b5bc", "250 ml", 5.75, 1),
          iceCream("platform_variant_b1127b74381a33722c8f3e2c", "500 ml", 10.55, 2)
        ]
      }
    }
  }
}
