/** Records of a Shopify product export: the products, variants and pictures in them, and their positions. */
import { assert, describe, it } from "@effect/vitest"
import { aProduct, aVariant, read } from "@larder/test/support/pipelines/shopify-csv-rows.ts"

describe("a record of a product export", () => {
  it("becomes a product, a variant and a picture", async () => {
    assert.deepStrictEqual(await read(aProduct()), {
      rows: ["oat-bar"],
      products: [
        {
          native_id: "oat-bar",
          title: "Oat Bar",
          handle: "oat-bar",
          vendor: "Field Mill",
          product_type: "Bars",
          stated_category: "Food, Beverages & Tobacco > Food Items > Snack Foods",
          tags: ["oats", "honey"],
          body_text: "Oats & honey",
          published_at: null,
          created_at: null,
          is_published: true
        }
      ],
      variants: [
        {
          product_native_id: "oat-bar",
          native_id: "oat-bar",
          title: "Default Title",
          sku: "0042",
          barcode: "4000000000017",
          price: "5.7",
          compare_at_price: "6",
          currency: null,
          grams: 250,
          available: true,
          option1: null,
          option2: null,
          option3: null,
          position: 2,
          image_src: "https://cdn.example/oat-variant.jpg",
          requires_shipping: true
        }
      ],
      images: [
        {
          product_native_id: "oat-bar",
          position: 1,
          src: "https://cdn.example/oat.jpg?v=1",
          width: null,
          height: null,
          source_row: 2
        }
      ],
      rejects: [],
      odd_values: [],
      problem: null
    })
  })

  it("returns the same rows in the new template", async () => {
    const { variants, ...others } = await read({
      Title: "Oat Bar",
      "URL handle": "oat-bar",
      Description: "<p>Oats &amp; honey</p>",
      Vendor: "Field Mill ",
      "Product category": "Food, Beverages & Tobacco > Food Items > Snack Foods",
      Type: "Bars",
      Tags: "oats, honey",
      "Published on online store": "TRUE",
      Status: "Active",
      SKU: "0042",
      Barcode: "4000000000017",
      "Option1 value": "Default Title",
      Price: "5.70",
      "Compare-at price": "6",
      "Inventory tracker": "shopify",
      "Inventory quantity": "3",
      "Continue selling when out of stock": "DENY",
      "Weight value (grams)": "250",
      "Requires shipping": "TRUE",
      "Product image URL": "https://cdn.example/oat.jpg?v=1",
      "Image position": "1",
      "Variant image URL": "https://cdn.example/oat-variant.jpg"
    })
    assert.deepStrictEqual({ variants, ...others }, await read(aProduct()))
  })

  it("adds a variant or a picture to its handle when it has no title", async () => {
    const { products, rows, variants, images } = await read(
      aProduct({ "Option1 Value": "Small" }),
      aVariant({ "Option1 Value": "Large" }),
      { Handle: "oat-bar", "Image Src": "https://cdn.example/2.jpg", "Image Position": "2" },
      { Handle: "oat-bar" }
    )
    assert.deepStrictEqual([rows.length, products.length], [4, 1])
    assert.deepStrictEqual(
      variants.map(({ native_id, option1, title, position }) => [native_id, option1, title, position]),
      [
        ["oat-bar/Small", "Small", "Small", 2],
        ["oat-bar/Large", "Large", "Large", 3]
      ]
    )
    assert.deepStrictEqual(
      images.map(({ position, src }) => [position, src]),
      [
        [1, "https://cdn.example/oat.jpg?v=1"],
        [2, "https://cdn.example/2.jpg"]
      ]
    )
  })

  it("returns the same rows in any order of the records", async () => {
    const others = ["S", "M", "L"].map((size) =>
      aVariant({ "Option1 Value": size, "Image Src": `https://x.example/${size}.jpg` })
    )
    const rows = [aProduct(), ...others, aProduct({ Handle: "jam", Title: "Jam" })]
    const sorted = await read(...rows)
    const shuffled = await read(...[4, 2, 0, 3, 1].map((place) => rows[place] ?? {}))
    const withoutLines = ({ variants, images, products }: typeof sorted) => ({
      products: products.toSorted((a, b) => a.native_id.localeCompare(b.native_id)),
      variants: variants
        .map((variant) => ({ ...variant, position: 0 }))
        .sort((a, b) => a.native_id.localeCompare(b.native_id)),
      images: images.map(({ src }) => src).sort()
    })
    assert.deepStrictEqual(withoutLines(shuffled), withoutLines(sorted))
  })

  it("has the number of the line on which it begins, counted from the header", async () => {
    const { variants } = await read(aProduct({ "Body (HTML)": "a\nb\n\nc" }), aVariant({ "Option1 Value": "M" }))
    assert.deepStrictEqual(
      variants.map(({ position }) => position),
      [2, 6]
    )
  })
})
