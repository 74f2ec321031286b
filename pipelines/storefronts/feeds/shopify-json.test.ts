import { assert, describe, it } from "@effect/vitest"
import { UnexpectedAnswer } from "./answers.ts"
import { readCollections, readMembers, readMeta, readProducts } from "./shopify-json.ts"

type Fields = Readonly<Record<string, unknown>>

const responseTime = "2026-03-02T10:00:00+01:00"

const aVariant = (fields: Fields = {}) => ({
  id: 44_000_000_000_001,
  title: "Default Title",
  option1: "Default Title",
  option2: null,
  option3: null,
  sku: "",
  requires_shipping: true,
  taxable: true,
  featured_image: null,
  available: true,
  price: "12.50",
  grams: 0,
  compare_at_price: null,
  position: 1,
  product_id: 8_100_000_000_001,
  created_at: "2026-01-01T09:00:00+01:00",
  updated_at: responseTime,
  ...fields
})

const anImage = (fields: Fields = {}) => ({
  id: 33_000_000_000_001,
  created_at: "2026-01-01T09:00:00+01:00",
  position: 1,
  updated_at: "2026-01-01T09:00:00+01:00",
  product_id: 8_100_000_000_001,
  variant_ids: [],
  src: "https://cdn.example.com/files/jar.jpg?v=17",
  width: 1200,
  height: 800,
  ...fields
})

const aProduct = (fields: Fields = {}) => ({
  id: 8_100_000_000_001,
  title: "Quince jelly",
  handle: "quince-jelly",
  body_html: "<p>Set &amp; clear.</p>",
  published_at: "2026-01-02T10:00:00+05:30",
  created_at: "2026-01-01T09:00:00+01:00",
  updated_at: responseTime,
  vendor: "Hill Orchard ",
  product_type: "",
  tags: ["jam", "jam", " winter "],
  variants: [aVariant()],
  images: [anImage()],
  options: [{ name: "Title", position: 1, values: ["Default Title"] }],
  ...fields
})

const pageOf = (...products: ReadonlyArray<unknown>) => JSON.stringify({ products })
const read = (...products: ReadonlyArray<unknown>) => readProducts(pageOf(...products)).batch
const variantsOf = (...variants: ReadonlyArray<unknown>) => read(aProduct({ variants })).variants
const firstVariant = (fields: Fields) => variantsOf(aVariant(fields))[0]
const firstProduct = (fields: Fields) => read(aProduct(fields)).products[0]

const misfitOf = (attempt: () => unknown) => {
  try {
    attempt()
  } catch (error) {
    if (error instanceof UnexpectedAnswer) return { kind: error.kind, problem: error.problem }
    throw error
  }
  return assert.fail("it was read")
}

describe("a page of products", () => {
  it("becomes rows of products, variants and pictures", () => {
    assert.deepStrictEqual(readProducts(pageOf(aProduct())), {
      ids: ["8100000000001"],
      listed: 1,
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
        rejects: []
      }
    })
  })

  it("without products is an empty one", () => {
    const { listed, ids, batch } = readProducts('\uFEFF {"products":[]}')
    assert.deepStrictEqual([listed, ids, batch.rows, batch.rejects], [0, [], [], []])
  })

  it("is the same page when only the time of the response is another", () => {
    const later = (text: string) => text.replaceAll(responseTime, "2026-03-02T10:00:03+01:00")
    const page = pageOf(aProduct(), aProduct({ id: 2 }))
    assert.notStrictEqual(later(page), page)
    assert.deepStrictEqual(readProducts(later(page)), readProducts(page))
  })

  it("reads text that is escaped on the wire", () => {
    const text = pageOf(aProduct({ body_html: "<p>Half/half</p>" }))
      .replaceAll("<", "\\u003c")
      .replaceAll("/", "\\/")
    assert.strictEqual(readProducts(text).batch.products[0]?.body_text, "Half/half")
  })

  it("takes tags as text with commas, too", () => {
    assert.deepStrictEqual(firstProduct({ tags: "jam, winter,,jam" })?.tags, ["jam", "winter"])
    assert.deepStrictEqual(firstProduct({ tags: null })?.tags, [])
  })

  it("has null where the shop says nothing, or nothing that can be read", () => {
    const silent = { body_html: null, vendor: "", product_type: " ", handle: null, published_at: null, created_at: "?" }
    const { body_text, vendor, product_type, handle, published_at, created_at } = firstProduct(silent) ?? assert.fail()
    assert.deepStrictEqual(
      [body_text, vendor, product_type, handle, published_at, created_at],
      [null, null, null, null, null, null]
    )
  })
})

describe("variants", () => {
  it("have a former price only above the price", () => {
    const former = ["15.00", "12.50", "9.00", "0.00", null].map(
      (compare_at_price) => firstVariant({ compare_at_price })?.compare_at_price
    )
    assert.deepStrictEqual(former, ["15", null, null, null, null])
  })

  it("at 0 have no price where another one has, and cost nothing where all do", () => {
    const free = aVariant({ id: 2, price: "0.00", compare_at_price: "5.00" })
    const prices = (variants: ReturnType<typeof variantsOf>) => variants.map((v) => [v.price, v.compare_at_price])
    assert.deepStrictEqual(prices(variantsOf(aVariant(), free)), [
      ["12.5", null],
      [null, null]
    ])
    assert.deepStrictEqual(prices(variantsOf(free, aVariant({ id: 3, price: "0.00" }))), [
      ["0", "5"],
      ["0", null]
    ])
  })

  it("keep real options and drop the placeholder", () => {
    const { option1, option2, option3 } =
      firstVariant({ option1: " Red ", option2: "", option3: null }) ?? assert.fail()
    assert.deepStrictEqual([option1, option2, option3], ["Red", null, null])
    assert.isNull(firstVariant({ option1: "Default Title" })?.option1)
  })

  it("weigh nothing known at 0 grams", () => {
    assert.deepStrictEqual(
      [0, 250, "250.5", null, -5].map((grams) => firstVariant({ grams })?.grams),
      [null, 250, 250.5, null, null]
    )
  })

  it("are neither available nor sold out where the shop does not say", () => {
    assert.isNull(firstVariant({ available: undefined })?.available)
    assert.isFalse(firstVariant({ available: false })?.available)
  })

  it("show their featured picture, else the picture that names them, else none", () => {
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

  it("stand where their position says, else where they are listed", () => {
    const variants = variantsOf(aVariant({ id: 1, position: 7 }), aVariant({ id: 2, position: null }))
    assert.deepStrictEqual(
      variants.map(({ position }) => position),
      [7, 2]
    )
  })
})

describe("pictures", () => {
  it("come by their position, with https where the scheme is missing", () => {
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

describe("a product that cannot be used is a reject, and the others stand", () => {
  it.each([
    ["it is no JSON object", "text"],
    ["it is no JSON object", null],
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
    ["it has 2049 variants, and up to 2048 are read", aProduct({ variants: Array(2049).fill(aVariant()) })],
    ["it has 1001 pictures, and up to 1000 are read", aProduct({ images: Array(1001).fill(anImage()) })],
    ["it has 1001 tags, and up to 1000 are read", aProduct({ tags: Array(1001).fill("jam") })],
    ["it has 1001 tags, and up to 1000 are read", aProduct({ tags: ",".repeat(1000) })],
    [
      'the price of its variant 1 is "99999999999999.99999", which is no price',
      aProduct({ variants: [aVariant({ price: "99999999999999.99999" })] })
    ],
    [
      'the compare_at_price of its variant 1 is "-2", which is no price',
      aProduct({ variants: [aVariant({ compare_at_price: "-2" })] })
    ]
  ])("%s", (reason, product) => {
    const { batch, listed } = readProducts(pageOf(aProduct({ id: 1 }), product, aProduct({ id: 3 })))
    assert.deepStrictEqual(batch.rejects, [
      { position: 2, reason, payload: JSON.stringify(product === undefined ? null : product).slice(0, 10_000) }
    ])
    assert.deepStrictEqual([batch.rows, batch.products.length, listed], [["1", "3"], 2, 3])
  })

  it("and is listed all the same", () => {
    assert.deepStrictEqual(readProducts(pageOf(aProduct({ id: 5, title: "" }))).ids, ["5"])
  })

  it("is shown up to 10,000 characters, and nested without end not at all", () => {
    const [long] = read(aProduct({ title: "", body_html: "x".repeat(20_000) })).rejects
    assert.lengthOf(long?.payload ?? "", 10_000)
    const nested = `{"products":[{"id":1,"title":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`
    const [deep] = readProducts(nested).batch.rejects
    assert.match(deep?.payload ?? "", /^\(cannot be shown: /)
  })

  it("may come without variants or pictures", () => {
    const { products, variants, images } = read(aProduct({ variants: [], images: null }))
    assert.deepStrictEqual([products.length, variants.length, images.length], [1, 0, 0])
  })
})

describe("what is no page of products is told apart", () => {
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
  ])("%s: %s", (kind, text, problem) => {
    assert.deepStrictEqual(
      misfitOf(() => readProducts(text)),
      { kind, problem }
    )
    assert.strictEqual(misfitOf(() => readMembers(text, "1", 0)).kind, kind)
  })

  it("other shape: a list without end, of which each entry would be a reject", () => {
    const listOf = (key: string, entries: number) => JSON.stringify({ [key]: Array(entries).fill(0) })
    const problemOf = (key: string) => `the answer is a list of 1001 ${key}, and no page has more than 1000`
    for (const [key, reader] of [
      ["products", readProducts],
      ["products", (text: string) => readMembers(text, "1", 0)],
      ["collections", readCollections]
    ] as const) {
      const misfit = misfitOf(() => reader(listOf(key, 1001)))
      assert.deepStrictEqual(misfit, { kind: "other shape", problem: problemOf(key) })
      assert.strictEqual(reader(listOf(key, 1000)).listed, 1000)
    }
  })

  it("not json: an answer that is cut off", () => {
    const { kind, problem } = misfitOf(() => readProducts(pageOf(aProduct()).slice(0, -20)))
    assert.strictEqual(kind, "not json")
    assert.match(problem, /^the answer is no JSON, or cut off: /)
  })

  it.each([
    ["status", aProduct({ status: "draft" })],
    ["admin_graphql_api_id", aProduct({ admin_graphql_api_id: "gid://shop/Product/1" })],
    ["inventory_item_id", aProduct({ variants: [aVariant({ inventory_item_id: 5 })] })],
    ["old_inventory_quantity", aProduct({ variants: [aVariant({ old_inventory_quantity: 5 })] })]
  ])("other shape: products of the Admin API, known by %s", (_, product) => {
    const { kind, problem } = misfitOf(() => readProducts(pageOf(aProduct(), product)))
    assert.strictEqual(kind, "other shape")
    assert.match(problem, /^products as the Admin API gives them \(number 2 has its fields\), which include drafts/)
  })
})

const aCollection = (fields: Fields = {}) => ({
  id: 290_000_000_001,
  title: "Preserves ",
  handle: "preserves",
  description: "<p>Jars &amp; tins</p>",
  published_at: "2026-01-02T10:00:00+01:00",
  updated_at: "2026-02-01T10:00:00+01:00",
  image: { id: 1, created_at: responseTime, src: "//cdn.example.com/c.jpg", width: 300, height: 200, alt: null },
  products_count: 33,
  ...fields
})
const collectionsOf = (...collections: ReadonlyArray<unknown>) => readCollections(JSON.stringify({ collections }))

describe("a page of collections", () => {
  it("becomes rows of collections", () => {
    const bare = { id: 2, title: "New", handle: "new", description: "", image: null, published_at: null }
    const { ids, listed, batch } = collectionsOf(aCollection(), { ...bare, updated_at: responseTime })
    assert.deepStrictEqual([ids, listed, batch.rows, batch.rejects], [["290000000001", "2"], 2, [], []])
    assert.deepStrictEqual(batch.collections, [
      {
        native_id: "290000000001",
        title: "Preserves",
        handle: "preserves",
        description: "Jars & tins",
        image: { src: "https://cdn.example.com/c.jpg", width: 300, height: 200 },
        published_at: "2026-01-02T09:00:00.000Z",
        updated_at: "2026-02-01T09:00:00.000Z"
      },
      {
        native_id: "2",
        title: "New",
        handle: "new",
        description: null,
        image: null,
        published_at: null,
        updated_at: "2026-03-02T09:00:00.000Z"
      }
    ])
  })

  it("that all changed within a minute did not change then: it is the time of the response", () => {
    const all = collectionsOf(
      aCollection({ updated_at: responseTime }),
      aCollection({ id: 2, updated_at: "2026-03-02T10:00:01+01:00" })
    )
    assert.deepStrictEqual(
      all.batch.collections.map(({ updated_at }) => updated_at),
      [null, null]
    )
    assert.isNull(collectionsOf(aCollection()).batch.collections[0]?.updated_at)
  })

  it("rejects one without a title and keeps the others", () => {
    const { batch } = collectionsOf(aCollection({ title: null }), aCollection({ id: 2 }))
    assert.deepStrictEqual(
      [batch.rejects.map(({ position, reason }) => [position, reason]), batch.collections.length],
      [[[1, "it has no title"]], 1]
    )
  })

  it.each(["body_html", "sort_order", "rules", "admin_graphql_api_id"])(
    "of the Admin API, known by %s, is refused",
    (key) => {
      const { kind, problem } = misfitOf(() => collectionsOf(aCollection({ [key]: null })))
      assert.strictEqual(kind, "other shape")
      assert.match(problem, /^collections as the Admin API gives them/)
    }
  )
})

describe("members of a collection", () => {
  it("are ids in the shop's order, counted on from page to page", () => {
    const text = JSON.stringify({ products: [{ id: 9_007_199_254_740_991 }, null, { id: "5" }] })
    const { ids, listed, batch } = readMembers(text, "290000000001", 250)
    assert.deepStrictEqual([ids, listed, batch.rows, batch.products], [["9007199254740991", "5"], 3, [], []])
    assert.deepStrictEqual(batch.members, [
      { collection_native_id: "290000000001", product_native_id: "9007199254740991", position: 251 },
      { collection_native_id: "290000000001", product_native_id: "5", position: 253 }
    ])
  })
})

describe("what a shop says of itself", () => {
  it("is read field by field", () => {
    const meta = {
      id: 58_000_000_001,
      name: "Hill Orchard",
      city: "Graz",
      province: "",
      country: "AT",
      currency: "EUR",
      domain: "Hill.example.com",
      url: "https://hill.example.com",
      myshopify_domain: "hill.myshopify.example",
      description: " Jams ",
      published_collections_count: 0,
      published_products_count: 62
    }
    assert.deepStrictEqual(readMeta(JSON.stringify(meta)), {
      platform_shop_id: "58000000001",
      name: "Hill Orchard",
      description: "Jams",
      url: "https://hill.example.com",
      domain: "hill.example.com",
      myshopify_domain: "hill.myshopify.example",
      currency: "EUR",
      country: "AT",
      province: null,
      city: "Graz",
      language: null,
      published_products_count: 62,
      published_collections_count: 0
    })
  })

  it("is null where it is no code and no count", () => {
    const { currency, country, language, published_products_count } = readMeta(
      '{"name":"x","currency":"euro","country":"Austria","locale":"de-AT","published_products_count":"many"}'
    )
    assert.deepStrictEqual([currency, country, language, published_products_count], [null, null, "de-AT", null])
  })

  it.each([
    ["html", "<html></html>"],
    ["not json", "{"],
    ["other shape", '{"ok":true}'],
    ["other shape", "[1]"]
  ])("is told apart from %s", (kind, text) => {
    assert.strictEqual(misfitOf(() => readMeta(text)).kind, kind)
  })
})
