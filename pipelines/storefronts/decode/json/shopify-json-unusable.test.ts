/** What a Shopify storefront answers and cannot be used: single products, and answers that are no page of products. */
import { assert, describe, it } from "@effect/vitest"
import { anImage, aProduct, aVariant, misfitOf, pageOf, read } from "@larder/test/support/pipelines/shopify-answers.ts"
import { readCollections, readMembers, readShopifyProducts } from "./shopify-json.ts"

describe("a product that cannot be used", () => {
  const cases: ReadonlyArray<readonly [reason: string, product: unknown]> = [
    ["it is not a JSON object", "text"],
    ["it is not a JSON object", null],
    ["its id is nothing, which is no id", aProduct({ id: undefined })],
    ["its id is 9007199254740992, which is no id", aProduct({ id: 2 ** 53 })],
    ['its id is "gid://shop/Product/5", which is no id', aProduct({ id: "gid://shop/Product/5" })],
    ["it has no title", aProduct({ title: "  " })],
    ["it has no list of variants", aProduct({ variants: null })],
    ["its variant 2 has no id", aProduct({ variants: [aVariant(), {}] })],
    [
      'the price of its variant 1 is "on request", which is no price',
      aProduct({ variants: [aVariant({ price: "on request" })] })
    ],
    ["the price of its variant 1 is missing", aProduct({ variants: [aVariant({ price: undefined })] })],
    ...Object.entries({
      handle: [{}, "text"],
      vendor: [true, "text"],
      product_type: [["Jams"], "text"],
      body_html: [{ html: "" }, "text"],
      published_at: ["yesterday", "time"],
      created_at: [20260101, "time"],
      tags: [7, "list"],
      images: [{}, "list"]
    }).map(
      ([key, [value, what]]) =>
        [`its ${key} is ${JSON.stringify(value)}, which is no ${what}`, aProduct({ [key]: value })] as const
    ),
    ...Object.entries({
      price: [
        [{ amount: "1.00" }, "price"],
        [["1.00"], "price"],
        [true, "price"]
      ],
      compare_at_price: [
        [{ amount: "1.00" }, "price"],
        [false, "price"]
      ],
      available: [
        ["true", "boolean"],
        [1, "boolean"]
      ],
      requires_shipping: [["no", "boolean"]],
      grams: [
        ["heavy", "weight"],
        [[5], "weight"]
      ],
      sku: [[{}, "text"]],
      barcode: [[[], "text"]],
      option1: [[{ name: "Red" }, "text"]],
      title: [[false, "text"]],
      position: [["first", "number"]],
      featured_image: [["https://cdn.example.com/a.jpg", "object"]]
    }).flatMap(([key, values]) =>
      values.map(
        ([value, what]) =>
          [
            `the ${key} of its variant 1 is ${JSON.stringify(value)}, which is no ${what}`,
            aProduct({ variants: [aVariant({ [key]: value })] })
          ] as const
      )
    ),
    ['its tags is {"name":"jam"}, which is no text', aProduct({ tags: [{ name: "jam" }] })],
    ["its images holds 5, which is no object", aProduct({ images: [5] })],
    ["the src of its picture 1 is {}, which is no text", aProduct({ images: [anImage({ src: {} })] })],
    ['the width of its picture 1 is "wide", which is no number', aProduct({ images: [anImage({ width: "wide" })] })],
    [
      'the price of its variant 1 is "99999999999999.99999", which is no price',
      aProduct({ variants: [aVariant({ price: "99999999999999.99999" })] })
    ],
    [
      'the compare_at_price of its variant 1 is "-2", which is no price',
      aProduct({ variants: [aVariant({ compare_at_price: "-2" })] })
    ]
  ]
  it.each(cases)("is rejected, and the others are kept: %s (case %#)", (reason, product) => {
    const { batch, listed } = readShopifyProducts(pageOf(aProduct({ id: 1 }), product, aProduct({ id: 3 })))
    assert.deepStrictEqual(batch.rejects, [
      { position: 2, reason, payload: JSON.stringify(product === undefined ? null : product).slice(0, 10_000) }
    ])
    assert.deepStrictEqual([batch.rows, batch.products.length, listed], [["1", "3"], 2, 3])
  })

  it("is still listed by its id", () => {
    assert.deepStrictEqual(readShopifyProducts(pageOf(aProduct({ id: 5, title: "" }))).ids, ["5"])
  })

  it("is shown up to 10,000 characters, and not at all when it nests too deep", () => {
    const [long] = read(aProduct({ title: "", body_html: "x".repeat(20_000) })).rejects
    assert.lengthOf(long?.payload ?? "", 10_000)
    const nested = `{"products":[{"id":1,"title":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`
    const [deep] = readShopifyProducts(nested).batch.rejects
    assert.match(deep?.payload ?? "", /^\(cannot be shown: /)
  })

  it("a product with more variants, pictures and tags than any shop gives one is accepted", () => {
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

describe("an answer that is not a page of products", () => {
  const html = "<!doctype html><html><head><title>Just a moment...</title></head></html>"
  it.each([
    ["html", html, 'a page "Just a moment..." came where JSON was expected'],
    ["html", " <p>Enter the password</p>", "a page came where JSON was expected"],
    ["not json", "", "the answer is empty where JSON was expected"],
    ["other shape", "[]", "the answer has no list of products: it is []"],
    ["other shape", "null", "the answer has no list of products: it is null"],
    ["other shape", '{"product":{"id":1}}', "the answer has no list of products, but product"],
    ["other shape", '{"products":{}}', "the answer has no list of products, but products"],
    ["other shape", '{"errors":"Not Found"}', 'the shop answers with an error: "Not Found"'],
    [
      "window",
      '{"errors":"Page * Limit exceeds the 25000 limit."}',
      'the shop answers with an error: "Page * Limit exceeds the 25000 limit."'
    ],
    [
      "window",
      '{"errors":{"page":["is beyond the limit of 25000"]},"products":[]}',
      'the shop answers with an error: {"page":["is beyond the limit of 25000"]}'
    ]
  ])("fails as %s: %s", (kind, text, problem) => {
    assert.deepStrictEqual(
      misfitOf(() => readShopifyProducts(text)),
      { kind, problem }
    )
    assert.strictEqual(misfitOf(() => readMembers(text, "1", 0)).kind, kind)
  })

  it("fails as other shape when its list has more than 1,000 entries", () => {
    const listOf = (key: string, entries: number) => JSON.stringify({ [key]: Array(entries).fill(0) })
    const problemOf = (key: string) => `the answer is a list of 1001 ${key}, and no page has more than 1000`
    for (const [key, reader] of [
      ["products", readShopifyProducts],
      ["products", (text: string) => readMembers(text, "1", 0)],
      ["collections", readCollections]
    ] as const) {
      const misfit = misfitOf(() => reader(listOf(key, 1001)))
      assert.deepStrictEqual(misfit, { kind: "other shape", problem: problemOf(key) })
      assert.strictEqual(reader(JSON.stringify({ [key]: Array(1000).fill({ id: 1 }) })).listed, 1000)
    }
  })

  it("fails as other shape when it holds more than 1,000,000 values", () => {
    const million = ',"a":{},"b":[]'.repeat(250_000)
    const pageWith = (more: string) => `{"products":[]${million.slice(0, -7)}${more}}`
    assert.strictEqual(readShopifyProducts(pageWith("")).listed, 0)
    const problem = "the answer holds 1,000,002 values, and no page has more than 1,000,000"
    assert.deepStrictEqual(
      misfitOf(() => readShopifyProducts(pageWith(',"b":[]'))),
      { kind: "other shape", problem }
    )
  })

  it("does not count commas and brackets within texts", () => {
    const text = String.raw`{[,\"\\`.repeat(400_000)
    const { listed } = readShopifyProducts(`{"products":[],"a":"${text}","b":"${text}"}`)
    assert.strictEqual(listed, 0)
  })

  it("fails as not json when it is cut off", () => {
    const { kind, problem } = misfitOf(() => readShopifyProducts(pageOf(aProduct()).slice(0, -20)))
    assert.strictEqual(kind, "not json")
    assert.match(problem, /^the answer is not JSON, or is cut off: /)
  })

  it.each([
    ["status", aProduct({ status: "draft" })],
    ["admin_graphql_api_id", aProduct({ admin_graphql_api_id: "gid://shop/Product/1" })],
    ["inventory_item_id", aProduct({ variants: [aVariant({ inventory_item_id: 5 })] })],
    ["old_inventory_quantity", aProduct({ variants: [aVariant({ old_inventory_quantity: 5 })] })]
  ])("fails as other shape when it is of the Admin API, known by %s", (_, product) => {
    const { kind, problem } = misfitOf(() => readShopifyProducts(pageOf(aProduct(), product)))
    assert.strictEqual(kind, "other shape")
    assert.match(problem, /^products as the Admin API gives them \(number 2 has its fields\), which include drafts/)
  })
})
