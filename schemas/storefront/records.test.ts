import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Collection, ProductDetail, ProductSummary, Store } from "./records.ts"

const strict = { errors: "all", onExcessProperty: "error" } as const
const isDetail = (value: unknown) => Schema.decodeUnknownResult(ProductDetail, strict)(value)._tag === "Success"
const isCollection = (value: unknown) => Schema.decodeUnknownResult(Collection, strict)(value)._tag === "Success"
const isStore = (value: unknown) => Schema.decodeUnknownResult(Store, strict)(value)._tag === "Success"

const summary = {
  id: "platform_product_x",
  title: "Walnut bread",
  handle: null,
  vendor: null,
  product_type: null,
  category: "uncategorized",
  sub_category: "uncategorized",
  tags: [],
  image: null,
  price: { min: null, max: null, currency: null },
  variant_count: 0,
  published_at: null,
  source: "platform"
}
const variant = {
  id: "platform_variant_x",
  title: "Default Title",
  sku: null,
  price: 5.5,
  compare_at_price: null,
  grams: null,
  available: null,
  option1: null,
  option2: null,
  option3: null,
  position: 1,
  image_src: null
}
const detail = { ...summary, store_id: "platform_store_x", body_text: null, images: [], variants: [variant] }

describe("a product", () => {
  it("is valid when its feed states little", () => {
    assert.isTrue(isDetail(detail))
  })
  it("can have pictures of unknown size, but not without an address", () => {
    const image = { src: "https://shop.example.com/a.jpg", width: null, height: null }
    assert.isTrue(isDetail({ ...detail, image, images: [image, { ...image, width: 640, height: 480 }] }))
    assert.isFalse(isDetail({ ...detail, image: { src: null, width: 1, height: 1 } }))
  })
  it("starts with the fields of its summary, in the same order", () => {
    assert.deepStrictEqual(Object.keys(summary), Object.keys(ProductSummary.fields))
    assert.deepStrictEqual(Object.keys(detail), Object.keys(ProductDetail.fields))
  })
  it.each([
    ["id", "platform_store_x"],
    ["category", null],
    ["tags", null],
    ["variant_count", -1],
    ["source", "shopify"],
    ["published_at", "2026-06-06T18:11:05+05:30"]
  ])("is invalid with the %s %j", (field, value) => {
    assert.isFalse(isDetail({ ...detail, [field]: value }))
  })
})

describe("a collection", () => {
  const collection = {
    id: "platform_collection_x",
    title: "Bread",
    handle: "bread",
    description: null,
    image: null,
    product_count: 3,
    published_at: null,
    updated_at: null,
    source: "platform"
  }
  it("is valid without text, picture and times", () => {
    assert.isTrue(isCollection(collection))
    assert.deepStrictEqual(Object.keys(collection), Object.keys(Collection.fields))
  })
  it("is invalid without a number of products", () => {
    assert.isFalse(isCollection({ ...collection, product_count: null }))
  })
})

describe("a store", () => {
  const store = {
    id: "platform_store_x",
    name: "Example Bakery",
    domain: "shop.example.com",
    url: "https://shop.example.com",
    description: null,
    country: null,
    currency: null,
    language: null,
    category: "uncategorized",
    categories: [],
    product_count: 0,
    collection_count: 0,
    fetch_status: "failed",
    first_seen_at: "2026-10-01T13:04:36.000Z",
    fetched_at: null,
    source: "platform"
  }
  it("is valid without rows and without a read time if its first read failed", () => {
    assert.isTrue(isStore(store))
    assert.deepStrictEqual(Object.keys(store), Object.keys(Store.fields))
  })
  it("counts the products of its categories", () => {
    const categories = [{ category: "food_beverages_and_tobacco", product_count: 62 }]
    assert.isTrue(isStore({ ...store, categories, fetch_status: "complete", fetched_at: store.first_seen_at }))
    assert.isFalse(isStore({ ...store, categories: [{ category: "x" }] }))
  })
  it("can have the fetch status partial, but not blocked", () => {
    assert.isTrue(isStore({ ...store, fetch_status: "partial" }))
    assert.isFalse(isStore({ ...store, fetch_status: "blocked" }))
  })
})
