/** Pages of products of a Shopify storefront, as rows of products, variants and pictures. */
import { assert, describe, it } from "@effect/vitest"
import {
  anImage,
  aProduct,
  aVariant,
  type Fields,
  pageOf,
  read,
  responseTime
} from "@larder/test/support/pipelines/shopify-responses.ts"
import { decodePage } from "../payload-text.ts"
import { readShopifyProducts } from "./shopify-json.ts"

const variantsOf = (...variants: ReadonlyArray<unknown>) => read(aProduct({ variants })).variants
const firstVariant = (fields: Fields) => variantsOf(aVariant(fields))[0]
const firstProduct = (fields: Fields) => read(aProduct(fields)).products[0]

describe("a page of products", () => {
  it("becomes rows of products, variants and pictures", () => {
    assert.deepStrictEqual(readShopifyProducts(pageOf(aProduct())), {
      ids: ["8100000000001"],
      entryCount: 1,
      batch: {
        rows: ["8100000000001"],
        products: [
          {
            native_id: "8100000000001",
            title: "Quince jelly",
            handle: "quince-jelly",
            vendor: "Hill Orchard",
            product_type: null,
            stated_category: null,
            tags: ["jam", "winter"],
            body_text: "Set & clear.",
            published_at: "2026-01-02T04:30:00.000Z",
            created_at: "2026-01-01T08:00:00.000Z",
            is_published: true
          }
        ],
        variants: [
          {
            product_native_id: "8100000000001",
            native_id: "44000000000001",
            title: "Default Title",
            sku: null,
            barcode: null,
            price: "12.5",
            compare_at_price: null,
            currency: null,
            grams: null,
            available: true,
            option1: null,
            option2: null,
            option3: null,
            position: 1,
            image_src: null,
            requires_shipping: true
          }
        ],
        images: [
          {
            product_native_id: "8100000000001",
            position: 1,
            src: "https://cdn.example.com/files/jar.jpg?v=17",
            width: 1200,
            height: 800
          }
        ],
        collections: [],
        members: [],
        rejects: [],
        odd_values: []
      }
    })
  })

  it("rejects a product with bytes that are not text in the page's encoding, and keeps the others", () => {
    const bytes = (title: string) =>
      Buffer.from(pageOf(aProduct({ id: 1, title }), aProduct({ id: 2, title: "kept \ufffd" })))
    const misencoded = Buffer.from(bytes("Caf~").map((byte) => (byte === 0x7e ? 0xe9 : byte)))
    const { batch } = readShopifyProducts(decodePage(misencoded))
    assert.deepStrictEqual(
      [batch.rejects.map(({ reason }) => reason), batch.products.map(({ title }) => title)],
      [["it has bytes that are not text in the page's encoding"], ["kept \ufffd"]]
    )
    const declared = readShopifyProducts(decodePage(misencoded, "application/json; charset=iso-8859-1")).batch
    assert.deepStrictEqual(declared.products[0]?.title, "Café")
    assert.strictEqual(
      readShopifyProducts(decodePage(bytes("Café"), "application/json")).batch.products[0]?.title,
      "Café"
    )
  })

  it("is empty when it has no products", () => {
    const { entryCount, ids, batch } = readShopifyProducts('\uFEFF {"products":[]}')
    assert.deepStrictEqual([entryCount, ids, batch.rows, batch.rejects], [0, [], [], []])
  })

  it("returns the same rows when only the time of the response differs", () => {
    const delayResponse = (text: string) => text.replaceAll(responseTime, "2026-03-02T10:00:03+01:00")
    const page = pageOf(aProduct(), aProduct({ id: 2 }))
    assert.notStrictEqual(delayResponse(page), page)
    assert.deepStrictEqual(readShopifyProducts(delayResponse(page)), readShopifyProducts(page))
  })

  it("reads text that is escaped in the JSON", () => {
    const text = pageOf(aProduct({ body_html: "<p>Half/half</p>" }))
      .replaceAll("<", "\\u003c")
      .replaceAll("/", "\\/")
    assert.strictEqual(readShopifyProducts(text).batch.products[0]?.body_text, "Half/half")
  })

  it("has its entities decoded once", () => {
    const product = aProduct({
      title: "Tom &amp; Anna &#39;mug&#39;",
      vendor: "B &amp; C",
      tags: ["salt &amp; pepper"],
      body_html: "a &amp;amp; b",
      images: [{ src: "https://cdn.example/1.jpg?a=1&amp;b=2" }]
    })
    const { images, products } = readShopifyProducts(pageOf(product)).batch
    assert.deepInclude(products[0], {
      title: "Tom & Anna 'mug'",
      vendor: "B & C",
      tags: ["salt & pepper"],
      body_text: "a &amp; b"
    })
    assert.strictEqual(images[0]?.src, "https://cdn.example/1.jpg?a=1&b=2")
  })

  it("reads tags from one text with commas, too", () => {
    assert.deepStrictEqual(firstProduct({ tags: "jam, winter,,jam" })?.tags, ["jam", "winter"])
    assert.deepStrictEqual(firstProduct({ tags: null })?.tags, [])
  })

  it("has null for a field that is empty", () => {
    const empty = { body_html: null, vendor: "", product_type: " ", handle: null, published_at: null, created_at: "" }
    const { body_text, vendor, product_type, handle, published_at, created_at } = firstProduct(empty) ?? assert.fail()
    assert.deepStrictEqual(
      [body_text, vendor, product_type, handle, published_at, created_at],
      [null, null, null, null, null, null]
    )
  })
})

describe("variants", () => {
  it("have a price before reduction only if it is above the price", () => {
    const former = ["15.00", "12.50", "9.00", "0.00", null].map(
      (compare_at_price) => firstVariant({ compare_at_price })?.compare_at_price
    )
    assert.deepStrictEqual(former, ["15", null, null, null, null])
  })

  it("keep real options, and drop the placeholder", () => {
    const { option1, option2, option3 } =
      firstVariant({ option1: " Red ", option2: "", option3: null }) ?? assert.fail()
    assert.deepStrictEqual([option1, option2, option3], ["Red", null, null])
    assert.isNull(firstVariant({ option1: "Default Title" })?.option1)
  })

  it("have no SKU if it is a placeholder", () => {
    assert.deepStrictEqual(
      ["-", "--", "na", "N/A", " NULL ", " NA-7 ", 12].map((sku) => firstVariant({ sku })?.sku),
      [null, null, null, null, null, "NA-7", "12"]
    )
  })

  it("have no weight if it is 0 grams or less", () => {
    assert.deepStrictEqual(
      [0, 250, "250.5", null, -5].map((grams) => firstVariant({ grams })?.grams),
      [null, 250, 250.5, null, null]
    )
  })

  it("are neither available nor sold out when the shop does not state it", () => {
    assert.isNull(firstVariant({ available: undefined })?.available)
    assert.isFalse(firstVariant({ available: false })?.available)
  })

  it("have their featured picture, otherwise the picture that names them, otherwise none", () => {
    const images = [
      anImage({ position: 2, src: "https://cdn.example.com/other.jpg", variant_ids: [1, 2] }),
      anImage({ position: 1, src: "//cdn.example.com/second.jpg", variant_ids: [2] })
    ]
    const featured = { featured_image: { src: "//cdn.example.com/featured.jpg" } }
    const variants = [aVariant({ id: 1, ...featured }), aVariant({ id: 2 }), aVariant({ id: 3 })]
    assert.deepStrictEqual(
      read(aProduct({ images, variants })).variants.map((variant) => variant.image_src),
      ["https://cdn.example.com/featured.jpg", "https://cdn.example.com/other.jpg", null]
    )
  })

  it("have the stated position, or else their index in the list", () => {
    const variants = variantsOf(aVariant({ id: 1, position: 7 }), aVariant({ id: 2, position: null }))
    assert.deepStrictEqual(
      variants.map(({ position }) => position),
      [7, 2]
    )
  })
})

describe("pictures", () => {
  it("are sorted by position, and get https when their scheme is missing", () => {
    const images = [
      anImage({ position: 2, src: "//cdn.example.com/b.jpg?v=1", width: "640", height: null }),
      anImage({ position: 1, src: "https://cdn.example.com/a.jpg", width: 0 }),
      anImage({ position: 3, src: "javascript:alert(1)" }),
      null
    ]
    assert.deepStrictEqual(
      read(aProduct({ images })).images.map(({ position, src, width, height }) => [position, src, width, height]),
      [
        [1, "https://cdn.example.com/a.jpg", null, 800],
        [2, "https://cdn.example.com/b.jpg?v=1", 640, null]
      ]
    )
  })
})
