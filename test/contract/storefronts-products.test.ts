/** Single products: images, variants, numbers and texts. */
import { describe, expect, it } from "vitest"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { aProduct, aStore, aVariant, makeHome, type ProductRow, summaryRecord } from "../support/stores.ts"

const store_id = "platform_store_shop"
const makeProduct = (name: string, stated: Partial<ProductRow> = {}) =>
  aProduct({ store_id, product_id: `platform_product_${name}`, ...stated })

const rich = makeProduct("rich", {
  title: "Bergkäse",
  handle: "bergkäse",
  vendor: "Sennerei",
  product_type: "Cheese",
  category: "food_beverages_and_tobacco",
  sub_category: "dairy_products",
  tags: ["raw milk"],
  body_text: "Aged.\n\n- in a cave",
  images: [
    { src: "https://cdn.example.com/b.jpg", width: 640, height: 480 },
    { src: "https://cdn.example.com/a.jpg", width: null, height: null }
  ],
  price_min: "12.5000",
  price_max: "1200.0000",
  currency: "CHF",
  published_at: "2026-06-06T12:41:05.000Z",
  variants: [
    aVariant({
      variant_id: "platform_variant_half",
      title: "500 g / raw",
      sku: "BK-500",
      price: "12.5000",
      compare_at_price: "15.0001",
      currency: "CHF",
      grams: 500,
      available: true,
      option1: "500 g",
      option2: "raw",
      option3: "",
      position: 1,
      image_src: "https://cdn.example.com/a.jpg"
    }),
    aVariant({
      variant_id: "platform_variant_whole",
      title: "Whole",
      price: "1200.0000",
      currency: "CHF",
      grams: 250.0201143,
      available: false,
      position: 2
    }),
    aVariant({ variant_id: "platform_variant_euro", title: "Abroad", price: "99.0000", currency: "EUR", position: 3 })
  ]
})

const numbers = ["0", "0.0001", "0.1", "0.29", "9.9900", "10", "100.10", "1095", "12345678901.1234"]
const manyNumbers = makeProduct("numbers", {
  variants: numbers.map((price, index) =>
    aVariant({ variant_id: `platform_variant_${index}`, price, grams: Number(price), position: index + 1 })
  )
})

const text = '\u0000\t\r\n"\\/</script>\u2028 İ 燕麦 😀 %_* \u007f é e\u0301'
const unusual = makeProduct("unusual", { title: text, body_text: text, tags: [text], vendor: text })

const api = startOwnServer({
  home: () => makeHome({ stores: [aStore({ store_id })], products: [rich, makeProduct("plain"), manyNumbers, unusual] })
})

const getProduct = async (name: string) => {
  const reply = await api.get(`/v1/products/platform_product_${name}`)
  expect([reply.status, reply.headers["x-credits-charged"]]).toEqual([200, "100"])
  return { text: reply.text, data: (reply.json as { readonly data: typeof detail }).data }
}
const detail = {
  ...summaryRecord(rich),
  store_id,
  body_text: "Aged.\n\n- in a cave" as string | null,
  images: rich.images,
  variants: [
    {
      id: "platform_variant_half",
      title: "500 g / raw",
      sku: "BK-500" as string | null,
      price: 12.5 as number | null,
      compare_at_price: 15.0001 as number | null,
      grams: 500 as number | null,
      available: true as boolean | null,
      option1: "500 g" as string | null,
      option2: "raw" as string | null,
      option3: "" as string | null,
      position: 1,
      image_src: "https://cdn.example.com/a.jpg" as string | null
    }
  ]
}

describe("a product", () => {
  it("has its summary, and store, text, images and variants", async () => {
    const { data } = await getProduct("rich")
    const unknown = { sku: null, compare_at_price: null, option1: null, option2: null, option3: null, image_src: null }
    expect(data).toEqual({
      ...detail,
      variants: [
        ...detail.variants,
        {
          ...unknown,
          id: "platform_variant_whole",
          title: "Whole",
          price: 1200,
          grams: 250.0201143,
          available: false,
          position: 2
        },
        // its price is in a different currency from the product's, and would be misread
        {
          ...unknown,
          id: "platform_variant_euro",
          title: "Abroad",
          price: null,
          grams: null,
          available: null,
          position: 3
        }
      ]
    })
    expect(Object.keys(data)).toEqual(Object.keys(detail))
    expect(Object.keys(data.variants[0] ?? {})).toEqual(Object.keys(detail.variants[0] ?? {}))
  })

  it("has nulls and empty lists if it has only a title", async () => {
    expect((await getProduct("plain")).data).toEqual({
      ...summaryRecord(makeProduct("plain")),
      store_id,
      body_text: null,
      images: [],
      variants: []
    })
  })

  it("has the same summary in the list of its store", async () => {
    const { json } = await api.get(`/v1/stores/${store_id}/products?limit=1`)
    expect(json).toMatchObject({ data: [summaryRecord(rich)] })
  })

  it("has exact numbers, without trailing zeros", async () => {
    const { data, text } = await getProduct("numbers")
    expect(data.variants.map(({ price }) => price)).toEqual(numbers.map(Number))
    expect([...text.matchAll(/"price":(-?[\d.]+),/g)].map(([, digits]) => digits)).toEqual(
      numbers.map((number) => String(Number(number)))
    )
    expect([...text.matchAll(/"grams":(-?[\d.]+),/g)].map(([, digits]) => digits)).toEqual(
      numbers.map((number) => String(Number(number)))
    )
  })

  it("has every character of its texts", async () => {
    const { data } = await getProduct("unusual")
    expect([data.title, data.body_text, data.vendor, data.tags]).toEqual([text, text, text, [text]])
  })

  it.each(["none", "", "Rich", "rich%20", "%20rich", "rich%00", "ric", "rich%27%20or%201%3D1--"])(
    "is unknown in any other spelling: '%s'",
    async (name) => {
      const reply = await api.get(`/v1/products/platform_product_${name}`)
      expect(formatError(reply)).toBe(`404 not_found: Unknown product: platform_product_${decodeURIComponent(name)}`)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  )

  it.each([store_id, "platform_variant_half", "data_branded_food_0soq3xi", "a".repeat(2000)])(
    "is not found by an id of another kind: %s",
    async (id) => {
      expect(formatError(await api.get(`/v1/products/${id}`))).toBe(`404 not_found: Unknown product: ${id}`)
    }
  )
})

describe("/readyz", () => {
  it("states that storefronts are loaded, and which data sets are missing", async () => {
    expect(await (await fetch(`${api.server().console}/readyz`)).json()).toMatchObject({
      status: "ready",
      data_sets: { commodities: false, branded_foods: false, storefronts: true },
      missing: ["commodities", "branded_foods"]
    })
  })
})
