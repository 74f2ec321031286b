/** Unusable responses of a Shopify storefront: single products, and responses that are not a page of products. */
import { assert, describe, it } from "@effect/vitest"
import {
  anImage,
  aProduct,
  aVariant,
  describeRejection,
  pageOf,
  read
} from "@larder/test/support/pipelines/shopify-responses.ts"
import { readCollections, readMembers, readShopifyProducts } from "./shopify-json.ts"

describe("a product that cannot be used", () => {
  const cases: ReadonlyArray<readonly [reason: string, product: unknown]> = [
    ["it is not a JSON object", "a text"],
    ["it is not a JSON object", null],
    ["its id is nothing, which is not an id", aProduct({ id: undefined })],
    ["its id is 9007199254740992, which is not an id", aProduct({ id: 2 ** 53 })],
    ['its id is "gid://shop/Product/5", which is not an id', aProduct({ id: "gid://shop/Product/5" })],
    ["it has no title", aProduct({ title: "  " })],
    ["it has no list of variants", aProduct({ variants: null })],
    ["its variant 2 has no id", aProduct({ variants: [aVariant(), {}] })],
    [
      'the price of its variant 1 is "on request", which is not a price',
      aProduct({ variants: [aVariant({ price: "on request" })] })
    ],
    ["the price of its variant 1 is missing", aProduct({ variants: [aVariant({ price: undefined })] })],
    ["its variants field is {}, which is not a list", aProduct({ variants: {} })],
    ...Object.entries({
      price: [
        [{ amount: "1.00" }, "a price"],
        [["1.00"], "a price"],
        [true, "a price"]
      ],
      compare_at_price: [
        [{ amount: "1.00" }, "a price"],
        [false, "a price"]
      ],
      option1: [[{ name: "Red" }, "a string"]],
      title: [[false, "a string"]]
    }).flatMap(([key, values]) =>
      values.map(
        ([value, what]) =>
          [
            `the ${key} of its variant 1 is ${JSON.stringify(value)}, which is not ${what}`,
            aProduct({ variants: [aVariant({ [key]: value })] })
          ] as const
      )
    ),
    [
      'the price of its variant 1 is "99999999999999.99999", which is not a price',
      aProduct({ variants: [aVariant({ price: "99999999999999.99999" })] })
    ],
    [
      'the compare_at_price of its variant 1 is "-2", which is not a price',
      aProduct({ variants: [aVariant({ compare_at_price: "-2" })] })
    ]
  ]
  it.each(cases)("is rejected, and the others are kept: %s (case %#)", (reason, product) => {
    const { batch, entryCount } = readShopifyProducts(pageOf(aProduct({ id: 1 }), product, aProduct({ id: 3 })))
    const [{ kind, native_id: _id, ...reject } = { kind: null, native_id: null }, ...others] = batch.rejects
    const payload = JSON.stringify(product === undefined ? null : product).slice(0, 10_000)
    assert.deepStrictEqual([kind, reject, others], ["product", { position: 2, reason, payload }, []])
    assert.deepStrictEqual([batch.rows, batch.products.length, entryCount], [["1", "3"], 2, 3])
  })

  it("is still listed by its id", () => {
    const { batch, ids } = readShopifyProducts(pageOf(aProduct({ id: 5, title: "" })))
    assert.deepStrictEqual([ids, batch.rejects.map(({ native_id }) => native_id)], [["5"], ["5"]])
  })

  it("is quoted up to 10,000 characters, and not at all if it is nested too deeply", () => {
    const [long] = read(aProduct({ title: "", body_html: "x".repeat(20_000) })).rejects
    assert.lengthOf(long?.payload ?? "", 10_000)
    const nested = `{"products":[{"id":1,"title":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`
    const [deep] = readShopifyProducts(nested).batch.rejects
    assert.match(deep?.payload ?? "", /^\(cannot be shown: /)
  })

  it("a product with more variants, pictures and tags than in any shop is accepted", () => {
    const many = {
      variants: Array(2049).fill(aVariant()),
      images: Array(1001).fill(anImage()),
      tags: ",a".repeat(1001)
    }
    const { products, variants, images } = read(aProduct(many))
    assert.deepStrictEqual([products[0]?.tags, variants.length, images.length], [["a"], 2049, 1001])
  })

  it("a product without variants and pictures is accepted", () => {
    const { products, variants, images } = read(aProduct({ variants: [], images: null }))
    assert.deepStrictEqual([products.length, variants.length, images.length], [1, 0, 0])
  })
})

describe("an optional field that cannot be read", () => {
  const cases: ReadonlyArray<readonly [field: string, said: unknown, product: unknown]> = [
    ...Object.entries({
      handle: {},
      vendor: true,
      product_type: ["Jams"],
      body_html: { html: "" },
      published_at: "yesterday",
      created_at: 20260101,
      tags: 7,
      images: {}
    }).map(([key, value]) => [key, value, aProduct({ [key]: value })] as const),
    ...Object.entries({
      available: ["true", 1],
      requires_shipping: ["no"],
      grams: ["heavy", [5], -5],
      sku: [{}],
      barcode: [[], "8.90E+12"],
      position: ["first"],
      featured_image: ["https://cdn.example.com/a.jpg"]
    }).flatMap(([key, values]) =>
      values.map((value) => [`variant ${key}`, value, aProduct({ variants: [aVariant({ [key]: value })] })] as const)
    ),
    ["tags", { name: "jam" }, aProduct({ tags: ["fig", { name: "jam" }] })],
    ["images", 5, aProduct({ images: [anImage(), 5] })],
    ["picture src", {}, aProduct({ images: [anImage({ src: {} })] })],
    ["picture width", "wide", aProduct({ images: [anImage({ width: "wide" })] })]
  ]
  it.each(cases)("costs no product, and is recorded: %s is %j", (field, value, product) => {
    const { odd_values, products, rejects } = read(product)
    const said = typeof value === "string" ? value : JSON.stringify(value)
    assert.deepStrictEqual([odd_values, products.length, rejects], [[{ field, said }], 1, []])
  })

  it("is null, and the other entries of a list are kept", () => {
    const changes = { grams: "heavy", available: "soon" }
    const { images, products, variants } = read(
      aProduct({ vendor: {}, tags: ["fig", {}], images: [5, anImage()], variants: [aVariant(changes)] })
    )
    assert.deepStrictEqual([products[0]?.vendor, products[0]?.tags, images.length], [null, ["fig"], 1])
    assert.deepStrictEqual([variants[0]?.grams, variants[0]?.available], [null, null])
  })

  it("is not recorded if its product is rejected for another reason: the reject has all of it", () => {
    const { odd_values, rejects } = read(aProduct({ vendor: {}, variants: [aVariant({ price: "ask" })] }))
    assert.deepStrictEqual([odd_values, rejects.length], [[], 1])
  })
})

describe("a response that is not a page of products", () => {
  const html = "<!doctype html><html><head><title>Just a moment...</title></head></html>"
  it.each([
    ["html", html, 'the response is a web page "Just a moment..." instead of JSON'],
    ["html", " <p>Enter the password</p>", "the response is a web page instead of JSON"],
    ["not json", "", "the response is empty instead of JSON"],
    ["other shape", "[]", "the response has no list of products: it is []"],
    ["other shape", "null", "the response has no list of products: it is null"],
    ["other shape", '{"product":{"id":1}}', "the response has no list of products: its keys are product"],
    ["other shape", '{"products":{}}', "the response has no list of products: its keys are products"],
    ["other shape", '{"errors":"Not Found"}', 'the shop returns an error: "Not Found"'],
    [
      "window",
      '{"errors":"Page * Limit exceeds the 25000 limit."}',
      'the shop returns an error: "Page * Limit exceeds the 25000 limit."'
    ],
    [
      "window",
      '{"errors":{"page":["is beyond the limit of 25000"]},"products":[]}',
      'the shop returns an error: {"page":["is beyond the limit of 25000"]}'
    ]
  ])("fails as %s: %s", (kind, text, problem) => {
    assert.deepStrictEqual(
      describeRejection(() => readShopifyProducts(text)),
      { kind, problem }
    )
    assert.strictEqual(describeRejection(() => readMembers(text, "1", 0)).kind, kind)
  })

  it("fails as other shape when its list has more than 1,000 entries", () => {
    const listOf = (key: string, entries: number) => JSON.stringify({ [key]: Array(entries).fill(0) })
    const problemOf = (key: string) => `the response is a list of 1001 ${key}, and a page has at most 1000`
    for (const [key, reader] of [
      ["products", readShopifyProducts],
      ["products", (text: string) => readMembers(text, "1", 0)],
      ["collections", readCollections]
    ] as const) {
      const rejection = describeRejection(() => reader(listOf(key, 1001)))
      assert.deepStrictEqual(rejection, { kind: "other shape", problem: problemOf(key) })
      assert.strictEqual(reader(JSON.stringify({ [key]: Array(1000).fill({ id: 1 }) })).entryCount, 1000)
    }
  })

  it("fails as other shape when it contains more than 1,000,000 values", () => {
    const million = ',"a":{},"b":[]'.repeat(250_000)
    const pageWith = (more: string) => `{"products":[]${million.slice(0, -7)}${more}}`
    assert.strictEqual(readShopifyProducts(pageWith("")).entryCount, 0)
    const problem = "the response has 1,000,002 values, and a page has at most 1,000,000"
    assert.deepStrictEqual(
      describeRejection(() => readShopifyProducts(pageWith(',"b":[]'))),
      { kind: "other shape", problem }
    )
  })

  it("does not count commas and brackets within texts", () => {
    const text = String.raw`{[,\"\\`.repeat(400_000)
    const { entryCount } = readShopifyProducts(`{"products":[],"a":"${text}","b":"${text}"}`)
    assert.strictEqual(entryCount, 0)
  })

  it("fails as not json when it is cut off", () => {
    const { kind, problem } = describeRejection(() => readShopifyProducts(pageOf(aProduct()).slice(0, -20)))
    assert.strictEqual(kind, "not json")
    assert.match(problem, /^the response is not JSON, or is cut off: /)
  })

  it.each([
    ["status", aProduct({ status: "draft" })],
    ["admin_graphql_api_id", aProduct({ admin_graphql_api_id: "gid://shop/Product/1" })],
    ["inventory_item_id", aProduct({ variants: [aVariant({ inventory_item_id: 5 })] })],
    ["old_inventory_quantity", aProduct({ variants: [aVariant({ old_inventory_quantity: 5 })] })]
  ])("fails as other shape when it is from the Admin API, with %s", (_, product) => {
    const { kind, problem } = describeRejection(() => readShopifyProducts(pageOf(aProduct(), product)))
    assert.strictEqual(kind, "other shape")
    assert.match(problem, /^these are products of the Admin API \(number 2 has its fields\), which include drafts/)
  })
})
