import { assert, describe, it } from "@effect/vitest"
import { UnexpectedResponse } from "../responses.ts"
import { readWooCommerceProducts } from "./woocommerce.ts"

type Fields = Readonly<Record<string, unknown>>

const somePrices = (fields: Fields = {}) => ({
  price: "120050",
  regular_price: "150000",
  sale_price: "120050",
  price_range: null,
  currency_code: "EGP",
  currency_symbol: "EGP",
  currency_minor_unit: 2,
  currency_decimal_separator: ",",
  currency_thousand_separator: ".",
  ...fields
})

const aProduct = (fields: Fields = {}) => ({
  id: 10_150,
  name: "Copper &amp; brass &#8211; 3&nbsp;mm",
  slug: "%d8%b3%d9%84%d9%83-3-mm",
  parent: 0,
  type: "variable",
  permalink: "https://wires.example.com/product/3-mm/",
  sku: "CB-3",
  short_description: "<p>Short</p>",
  description: "<p>Single core<br />\nstranded</p>",
  on_sale: true,
  prices: somePrices(),
  images: [
    { id: 1, src: "https://wires.example.com/a.png", thumbnail: "https://wires.example.com/a-430x430.png", alt: "" },
    { id: 2, src: "//wires.example.com/b.png" }
  ],
  categories: [{ id: 5, name: "Wires &amp; cables", slug: "wires" }],
  tags: [
    { id: 6, name: "stranded" },
    { id: 7, name: "" },
    { id: 8, name: "stranded" }
  ],
  brands: [{ id: 9, name: "Nile Cables" }],
  variations: [{ id: 10_573, attributes: [{ name: "Color", value: "black" }] }],
  is_purchasable: true,
  is_in_stock: true,
  weight: "3.8",
  ...fields
})

const read = (...products: ReadonlyArray<unknown>) => readWooCommerceProducts(JSON.stringify(products))
const productWith = (fields: Fields) => read(aProduct(fields)).batch.products[0] ?? assert.fail("rejected")
const variantWith = (prices: Fields, fields: Fields = {}) =>
  read(aProduct({ prices: somePrices(prices), ...fields })).batch.variants[0] ?? assert.fail("rejected")

describe("a page of WooCommerce products", () => {
  it("becomes rows of products with one variant each", () => {
    assert.deepStrictEqual(read(aProduct()), {
      ids: ["10150"],
      entryCount: 1,
      batch: {
        rows: ["10150"],
        products: [
          {
            native_id: "10150",
            title: "Copper & brass – 3 mm",
            handle: "سلك-3-mm",
            vendor: "Nile Cables",
            product_type: "Wires & cables",
            stated_category: null,
            tags: ["stranded"],
            body_text: "Single core\nstranded",
            published_at: null,
            created_at: null,
            is_published: true
          }
        ],
        variants: [
          {
            product_native_id: "10150",
            native_id: "10150",
            title: "Copper & brass – 3 mm",
            sku: "CB-3",
            barcode: null,
            price: "1200.5",
            compare_at_price: "1500",
            currency: "EGP",
            grams: null,
            available: true,
            option1: null,
            option2: null,
            option3: null,
            position: 1,
            image_src: null,
            requires_shipping: null
          }
        ],
        images: [
          {
            product_native_id: "10150",
            position: 1,
            src: "https://wires.example.com/a.png",
            width: null,
            height: null
          },
          { product_native_id: "10150", position: 2, src: "https://wires.example.com/b.png", width: null, height: null }
        ],
        collections: [],
        members: [],
        rejects: [],
        odd_values: []
      }
    })
  })

  it.each([
    [0, "120050"],
    [2, "1200.5"],
    [3, "120.05"]
  ])("reads prices in units of 10^-%i", (currency_minor_unit, price) => {
    assert.strictEqual(variantWith({ currency_minor_unit }).price, price)
  })

  it("has no price when the shop states none", () => {
    const { price, compare_at_price, currency } = variantWith({ price: "", regular_price: "" })
    assert.deepStrictEqual([price, compare_at_price, currency], [null, null, "EGP"])
    assert.isNull(read(aProduct({ prices: null })).batch.variants[0]?.price)
  })

  it.each([
    [
      { min_amount: "120050", max_amount: "300000" },
      { min: "1200.5", max: "3000" }
    ],
    [null, undefined],
    [{ min_amount: "", max_amount: "" }, undefined]
  ])("has the price range %j as %j", (price_range, expected) => {
    assert.deepStrictEqual(productWith({ prices: somePrices({ price_range }) }).price_range, expected)
  })

  it("has the lowest price of the range if it states no price", () => {
    const price_range = { min_amount: "70000", max_amount: "90000" }
    const { compare_at_price, price } = variantWith({ price: "", regular_price: "150000", price_range })
    assert.deepStrictEqual([price, compare_at_price], ["700", null])
  })

  it("is rejected if its price range is descending", () => {
    const { batch } = read(aProduct({ prices: somePrices({ price_range: { min_amount: "3000", max_amount: "100" } }) }))
    assert.deepStrictEqual(
      [batch.products, batch.rejects.map(({ reason }) => reason)],
      [[], ["its price_range goes from 30 down to 1"]]
    )
  })

  it.each(["status", "date_created", "catalog_visibility", "regular_price"])(
    "is rejected as one of the REST API for administrators when an entry has %s",
    (key) => {
      const entry = { id: 1, name: "Wire", price: "5", [key]: "x" }
      assert.throws(() => read(aProduct(), entry), UnexpectedResponse, /the REST API wc\/v3 of WooCommerce, .*number 2/)
    }
  )

  it("has a price before reduction only if it is above the price", () => {
    assert.isNull(variantWith({ regular_price: "120050" }).compare_at_price)
    assert.isNull(variantWith({ regular_price: "0" }).compare_at_price)
  })

  it("shows whether a product is in stock, out of stock or unknown", () => {
    assert.deepStrictEqual(
      [true, false, undefined].map((is_in_stock) => variantWith({}, { is_in_stock }).available),
      [true, false, null]
    )
  })

  it.each([
    ["caf%c3%a9", "café"],
    ["100%-wool", "100%-wool"],
    ["a%c3-b%c3%a9", "a%c3-bé"],
    ["plain", "plain"],
    ["", null]
  ])("reads from the slug %s the handle %s", (slug, handle) => {
    assert.strictEqual(productWith({ slug }).handle, handle)
  })

  it("uses the short description if there is no long one", () => {
    assert.strictEqual(productWith({ description: "" }).body_text, "Short")
  })

  it("has no vendor without a brand, and no type without a category", () => {
    const { vendor, product_type, tags } = productWith({ brands: [], categories: undefined, tags: null })
    assert.deepStrictEqual([vendor, product_type, tags], [null, null, []])
  })

  it.each([
    ["it has no name", { name: "&nbsp;" }],
    ["its id is 0, which is not an id", { id: 0 }],
    ['its price is "12.50", which is not a price in units of 10^-2', { prices: somePrices({ price: "12.50" }) }],
    [
      'its price is "120050", which is not a price in units of 10^-nothing',
      { prices: somePrices({ currency_minor_unit: undefined }) }
    ],
    ["its price is {}, which is not a price in units of 10^-2", { prices: somePrices({ price: {} }) }],
    [
      "its regular_price is true, which is not a price in units of 10^-2",
      { prices: somePrices({ regular_price: true }) }
    ],
    ["its price is missing", { prices: somePrices({ price: undefined }) }],
    ["its prices are missing", { prices: undefined }],
    ['its prices field is "120050", which is not an object', { prices: "120050" }],
    ['its currency_code is "E£", which is not an ISO 4217 code', { prices: somePrices({ currency_code: "E£" }) }]
  ])("rejects one product and keeps the others: %s", (reason, fields) => {
    const { batch } = read(aProduct({ id: 1 }), aProduct(fields), aProduct({ id: 3 }))
    assert.deepStrictEqual(
      batch.rejects.map((reject) => [reject.position, reject.reason]),
      [[2, reason]]
    )
    assert.deepStrictEqual(batch.rows, ["1", "3"])
  })

  it("has the entities in its SKU decoded", () => {
    assert.strictEqual(read(aProduct({ sku: "A&amp;B-1" })).batch.variants[0]?.sku, "A&B-1")
  })

  it.each(["-", "--", "na", "N/A", "NULL"])("has no SKU if it is %j", (sku) => {
    assert.isNull(read(aProduct({ sku })).batch.variants[0]?.sku)
  })

  it.each([
    ["is_in_stock", "yes", { is_in_stock: "yes" }],
    ["sku", "{}", { sku: {} }],
    ["description", "[]", { description: [] }],
    ["slug", '{"raw":"x"}', { slug: { raw: "x" } }],
    ["images", "{}", { images: {} }],
    ["picture src", "[5]", { images: [{ src: [5] }] }],
    ["tags name", "{}", { tags: [{ name: "a" }, { name: {} }] }],
    ["brands", "5", { brands: [5] }]
  ])("keeps a product whose %s is %s, and records that", (field, said, fields) => {
    const { batch } = read(aProduct(fields))
    assert.deepStrictEqual([batch.odd_values, batch.rejects, batch.rows.length], [[{ field, said }], [], 1])
  })

  it.each([
    ["html", "<!DOCTYPE html><title>Shop</title>", 'the response is a web page "Shop" instead of JSON'],
    [
      "other shape",
      '{"code":"rest_no_route","message":"No route was found","data":{"status":404}}',
      'the shop returns an error: "No route was found"'
    ],
    [
      "other shape",
      JSON.stringify(Array(1001).fill(0)),
      "the response is a list of 1001 products, and a page has at most 1000"
    ],
    ["other shape", '{"products":[]}', "the response has no array of products: its keys are products"]
  ])("fails as %s if it is another response (case %#)", (kind, text, problem) => {
    try {
      readWooCommerceProducts(text)
      assert.fail("it was read")
    } catch (error) {
      if (!(error instanceof UnexpectedResponse)) throw error
      assert.deepStrictEqual([error.kind, error.problem], [kind, problem])
    }
  })
})
