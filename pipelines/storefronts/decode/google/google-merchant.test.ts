import { assert, describe, it } from "@effect/vitest"
import { bytesOf, manyRows, readMeasured, readOneBatch, readWhole } from "@larder/test/support/pipelines/file-feeds.ts"
import { anItem, googleRow as row } from "@larder/test/support/pipelines/large-feeds.ts"
import fc from "fast-check"
import { readGoogleMerchant } from "./google-merchant.ts"

const feedOf = (...items: ReadonlyArray<string>) =>
  `<?xml version="1.0"?>\n<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>T</title>
${items.join("\n")}\n</channel></rss>`
const read = (...items: ReadonlyArray<string>) => readWhole(readGoogleMerchant, feedOf(...items), "EUR")

const variantWith = async (changes: Readonly<Record<string, string | null>>) =>
  (await read(anItem(changes))).variants[0]

const expectedRows = {
  rows: ["L-1"],
  products: [
    {
      native_id: "L-1",
      title: "Lentils & Co",
      handle: "red-lentils",
      vendor: "Pulse",
      product_type: "Pantry > Pulses",
      stated_category: "Food, Beverages & Tobacco > Food Items",
      tags: [],
      body_text: "Red & green",
      published_at: null,
      created_at: null,
      is_published: true
    }
  ],
  variants: [
    {
      product_native_id: "L-1",
      native_id: "L-1",
      title: "Lentils & Co",
      sku: null,
      barcode: "4000000000017",
      price: "3.5",
      compare_at_price: null,
      currency: "CHF",
      grams: 500,
      available: true,
      option1: null,
      option2: null,
      option3: null,
      position: 1,
      image_src: "https://cdn.example/1.jpg",
      requires_shipping: null
    }
  ],
  images: [
    {
      product_native_id: "L-1",
      position: 1,
      src: "https://cdn.example/1.jpg",
      width: null,
      height: null,
      source_row: 1
    },
    {
      product_native_id: "L-1",
      position: 2,
      src: "https://cdn.example/2.jpg",
      width: null,
      height: null,
      source_row: 1
    }
  ],
  rejects: [],
  odd_values: [],
  problem: null
}

describe("an item of a feed for Google", () => {
  it("becomes a product with one variant", async () => {
    assert.deepStrictEqual(await read(anItem()), expectedRows)
  })

  it("returns the same rows in Atom, without Google's prefix, and with another one", async () => {
    const inner = anItem().replace(/<\/?item>/g, "")
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>${inner}</entry></feed>`
    assert.deepStrictEqual(await readWhole(readGoogleMerchant, atom), expectedRows)
    const plain = `<products><product>${inner.replaceAll("g:", "")}</product></products>`
    assert.deepStrictEqual(await readWhole(readGoogleMerchant, plain), expectedRows)
    const other = `<rss xmlns:M='http://base.google.com/ns/1.0'><item>${inner.replaceAll("g:", "M:")}</item></rss>`
    assert.deepStrictEqual(await readWhole(readGoogleMerchant, other), expectedRows)
  })

  it("returns the same rows with CDATA, comments, CRLF, no-break spaces and a byte order mark", async () => {
    const inner = anItem({ "g:title": "<![CDATA[Lentils &amp; Co]]>", "g:brand": " Pulse<!-- </item> -->\n" })
    const text = `\uFEFF${feedOf(inner)}`.replaceAll("\n  ", "\r\n\u00a0\u00a0")
    assert.deepStrictEqual(await readWhole(readGoogleMerchant, text), expectedRows)
  })

  it("keeps an unescaped < in its title, and its price", async () => {
    const { products, ...others } = await read(anItem({ "g:title": "Lentils <10 kg & Co" }))
    assert.strictEqual(products[0]?.title, "Lentils <10 kg & Co")
    assert.deepStrictEqual([others.variants[0]?.price, others.rejects.length], ["3.5", 0])
  })

  it("is decoded from the encoding that the feed declares", async () => {
    const text = feedOf(anItem({ "g:brand": "Größe" })).replace('"1.0"?', '"1.0" encoding="windows-1252"?')
    const { products } = await readWhole(readGoogleMerchant, Buffer.from(text, "latin1"))
    assert.strictEqual(products[0]?.vendor, "Größe")
  })
})

describe("items of a group", () => {
  it("become variants of one product, with their size and colour as options", async () => {
    const makeItem = (id: string, size: string, color: string | null) =>
      anItem({ "g:id": id, "g:item_group_id": "L", "g:size": size, "g:color": color, "g:additional_image_link": null })
    const { images, products, rows, variants } = await read(
      makeItem("L-1", "S", "red"),
      makeItem("L-2", "M", "red"),
      makeItem("L-3", "M", null)
    )
    assert.deepStrictEqual(rows, ["L", "L", "L"])
    assert.deepStrictEqual(
      products.map(({ native_id }) => native_id),
      ["L", "L", "L"]
    )
    assert.deepStrictEqual(
      variants.map(({ native_id, option1, option2, product_native_id, title }) => [
        native_id,
        product_native_id,
        title,
        option1,
        option2
      ]),
      [
        ["L-1", "L", "S / red", "S", "red"],
        ["L-2", "L", "M / red", "M", "red"],
        ["L-3", "L", "M", "M", null]
      ]
    )
    assert.deepStrictEqual(
      images.map(({ position }) => position),
      [1, 101, 201]
    )
  })

  it("become two rows if one occurs twice", async () => {
    const { rows, variants } = await read(anItem(), anItem())
    assert.deepStrictEqual([rows, variants.length], [["L-1", "L-1"], 2])
  })
})

describe("prices of an item", () => {
  const pricesOf = async (price: string | null, sale: string | null) => {
    const variant = await variantWith({ "g:price": price, "g:sale_price": sale })
    return [variant?.price, variant?.compare_at_price, variant?.currency]
  }
  it.each([
    ["200 AED", "150 AED", ["150", "200", "AED"]],
    ["200 AED", "200 AED", ["200", null, "AED"]],
    ["200 AED", "250 AED", ["200", null, "AED"]],
    ["200 AED", "0 AED", ["200", null, "AED"]],
    ["200 AED", "150 USD", ["200", null, "AED"]],
    ["200 AED", "150", ["150", "200", "AED"]],
    ["200", "150", ["150", "200", null]],
    ["200", null, ["200", null, null]],
    ["200 AED", "0.00", ["200", null, "AED"]],
    [null, "150 AED", ["150", null, "AED"]],
    ["0 TRY", null, ["0", null, "TRY"]],
    ["0 AED", "150 AED", ["150", null, "AED"]],
    [null, null, [null, null, null]]
  ])("read %s, on sale for %s, as %j", async (price, sale, expected) => {
    assert.deepStrictEqual(await pricesOf(price, sale), expected)
  })

  it("never come from shipping, before or after them", async () => {
    const shipping = "<g:shipping><g:country>CH</g:country><g:price>9 CHF</g:price></g:shipping>"
    const inner = "<g:id>1</g:id><g:title>A</g:title>"
    const { variants } = await read(
      `<item>${shipping}${inner}<g:price>5 CHF</g:price></item>`,
      `<item>${inner}<g:price>6 CHF</g:price>${shipping}</item>`,
      `<item>${inner}${shipping}</item>`
    )
    assert.deepStrictEqual(
      variants.map(({ price }) => price),
      ["5", "6", null]
    )
  })
})

describe("items that cannot be used", () => {
  it.each([
    ["g:sale_price", "soon", 'its sale_price is "soon", which is not an amount'],
    ["g:price", "ask us", 'its price is "ask us", which is not an amount']
  ])("include one whose %s is %j", async (name, value, reason) => {
    const { rejects, rows } = await read(anItem({ [name]: value }), anItem({ "g:id": "other" }))
    assert.deepStrictEqual([rejects.map((reject) => reject.reason), rows], [[reason], ["other"]])
  })

  it("are rejected one by one, and the others are kept", async () => {
    const { problem, rejects, rows } = await read(
      anItem({ "g:id": null }),
      anItem({ "g:id": "2", "g:title": " " }),
      anItem({ "g:id": "3", "g:price": "ask us" }),
      anItem({ "g:id": "4", "g:title": "5 <b kg" }),
      anItem({ "g:id": "5", "g:price": null, "g:brand": "5 <10" }),
      "<item>".repeat(1),
      anItem({ "g:id": "7" })
    )
    assert.deepStrictEqual([rows, problem], [["7"], null])
    assert.deepStrictEqual(
      rejects.map(({ native_id }) => native_id),
      [null, "2", "3", null, null, null] // the ids of the others are missing or uncertain
    )
    assert.deepStrictEqual(
      rejects.map(({ position, reason }) => [position, reason]),
      [
        [1, "it has no id"],
        [2, "it has no title"],
        [3, 'its price is "ask us", which is not an amount'],
        [4, 'its g:title contains <g:description>: perhaps a "<" in it is not escaped'],
        [5, "it has no price, and its tags are not well-formed: something in it is not escaped"],
        [6, "its </item> is missing"]
      ]
    )
    assert.strictEqual(rejects[0]?.payload, anItem({ "g:id": null }))
  })

  it.each(["-", "--", "NA", "n/a", "NULL"])("include one whose id is %j, which is no id", async (id) => {
    const { rejects, rows } = await read(anItem({ "g:id": id }), anItem())
    assert.deepStrictEqual(
      [rejects.map(({ native_id, reason }) => [native_id, reason]), rows],
      [[[null, "it has no id"]], ["L-1"]]
    )
  })

  it("include one with bytes that are not text", async () => {
    const [before, after] = feedOf(anItem({ "g:brand": "@" }), anItem({ "g:id": "2" })).split("@")
    const bytes = Buffer.concat([bytesOf(before ?? ""), Buffer.from([0xfc]), bytesOf(after ?? "")])
    const { rejects, rows } = await readWhole(readGoogleMerchant, bytes)
    assert.deepStrictEqual(rows, ["2"])
    assert.include(rejects[0]?.reason, "bytes that are not text")
  })

  it("a truncated feed returns its complete items, and reports the truncation", async () => {
    const whole = feedOf(anItem(), anItem({ "g:id": "2" }))
    const { problem, rows } = await readWhole(readGoogleMerchant, whole.slice(0, -60))
    assert.deepStrictEqual(
      [rows, problem],
      [["L-1"], "The feed ends within item 2, before its end tag: it is cut off."]
    )
  })
})

describe("optional fields of an item", () => {
  it.each([
    ["g:availability", "on the moon"],
    ["g:shipping_weight", "heavy"],
    ["g:shipping_weight", "1.2.3 kg"],
    ["g:shipping_weight", "-1 kg"],
    ["g:shipping_weight", "500"],
    ["g:gtin", "4.76E+12"],
    ["g:brand", "<b>Acme</b>"],
    ["g:link", "tea"]
  ])("cost no item when they cannot be read, and are recorded: %s is %j", async (name, said) => {
    const { odd_values, rejects, rows } = await read(anItem({ [name]: said }), anItem({ "g:id": "other" }))
    assert.deepStrictEqual([odd_values, rejects, rows], [[{ field: name.slice(2), said }], [], ["L-1", "other"]])
  })

  it.each(["n/a", "NULL", "--"])("have no value when they are %j", async (said) => {
    const changes = { "g:availability": said, "g:shipping_weight": said, "g:gtin": said, "g:item_group_id": said }
    const { odd_values, products, variants } = await read(anItem(changes))
    assert.deepStrictEqual([odd_values, products[0]?.native_id], [[], "L-1"])
    assert.deepInclude(variants[0], { available: null, grams: null, barcode: null })
  })

  it("include an availability that will begin: it is not available", async () => {
    assert.isFalse((await read(anItem({ "g:availability": "coming soon" }))).variants[0]?.available)
  })
})

describe("a table for Google", () => {
  const columns =
    "ID\tTitle\tdescription\tg:link\timage link\tadditional_image_link\tavailability\tprice\tSale-Price\tcategory"
  const cells =
    'a\tTea\t"says ""hi""\nand bye"\thttps://x.example/tea\thttps://x.example/1.jpg\thttps://x.example/2,3.jpg,https://x.example/4.jpg\tin stock\t250.00\t212.50\tTea &amp; Co'

  it("is recognized by its content, and becomes rows of products, variants and pictures", async () => {
    const { images, products, variants, problem } = await readWhole(readGoogleMerchant, `${columns}\n${cells}\n`, "AED")
    assert.isNull(problem)
    assert.deepInclude(products[0], {
      native_id: "a",
      title: "Tea",
      handle: "tea",
      product_type: "Tea & Co",
      body_text: 'says "hi"\nand bye'
    })
    assert.deepInclude(variants[0], {
      price: "212.5",
      compare_at_price: "250",
      currency: null,
      available: true,
      position: 2
    })
    assert.deepStrictEqual(
      images.map(({ src }) => src),
      ["https://x.example/1.jpg", "https://x.example/2,3.jpg", "https://x.example/4.jpg"]
    )
  })

  it("may have commas, and prices with a currency next to those of shipping", async () => {
    const text = "id,title,price,sale_price,shipping\n1,Fan,200 AED,150 AED,AE:::0 AED\n2,,1,,\n"
    const { rejects, variants } = await readWhole(readGoogleMerchant, `\n${text}`, "USD")
    assert.deepInclude(variants[0], { native_id: "1", price: "150", compare_at_price: "200", currency: "AED" })
    const reject = {
      position: 4,
      reason: "it has no title",
      payload: "2,,1,,\n",
      kind: "product",
      native_id: "2"
    } as const
    assert.deepStrictEqual(rejects, [reject])
  })

  it("fails if it has no column names, or is empty", async () => {
    const { problem } = await readWhole(readGoogleMerchant, '{"error":"locked"}')
    assert.strictEqual(
      problem,
      'This is not a product feed for Google: line 1 should contain the names of the columns, but lacks "id", "title", "price". It begins with "{\\"error\\":\\"locked\\"}".'
    )
    assert.strictEqual((await readWhole(readGoogleMerchant, " \n")).problem, "The file is empty.")
  })
})

describe("a feed of any size", () => {
  it("returns the same rows however its bytes are split", async () => {
    const bytes = bytesOf(feedOf(anItem({ "g:brand": "é🧀" }), anItem({ "g:title": "5 <10" }), "<item/>"))
    const expected = await readWhole(readGoogleMerchant, bytes)
    assert.deepStrictEqual([expected.rows.length, expected.rejects.length], [2, 1])
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (length) => {
        async function* parts() {
          for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
        }
        const rows: Array<string> = []
        for await (const batch of readGoogleMerchant(parts, { currency: null })) rows.push(...batch.rows)
        assert.deepStrictEqual(rows, expected.rows)
      })
    )
  })

  it("is read only as fast as its items are consumed, and closed when reading stops", async () => {
    const { isClosed, pulled, rows } = await readOneBatch(readGoogleMerchant, manyRows(20, "<rss>", row, "</rss>"))
    assert.isAtMost(rows, 500)
    assert.isAtMost(pulled, 50) // of about 330
    assert.isTrue(isClosed)
  })

  it("is read after 131 MB of whitespace in constant memory", async () => {
    async function* spaces() {
      for (let number = 0; number < 2000; number++) yield bytesOf(" ".repeat(65_536))
      yield bytesOf(feedOf(anItem()))
    }
    const { growth, rows } = await readMeasured(readGoogleMerchant(spaces, { currency: null }))
    assert.deepStrictEqual([rows, growth < 30], [1, true])
  })
})
