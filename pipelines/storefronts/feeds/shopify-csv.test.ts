import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { bytesOf, manyRows, readMeasured, readWhole } from "./file-feeds-for-tests.ts"
import { readShopifyCsv } from "./shopify-csv.ts"

const csvOf = (rows: ReadonlyArray<Readonly<Record<string, string>>>) => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells: ReadonlyArray<string>) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")
  return [line(columns), ...rows.map((row) => line(columns.map((column) => row[column] ?? "")))].join("\n")
}
const read = (...rows: ReadonlyArray<Readonly<Record<string, string>>>) => readWhole(readShopifyCsv, csvOf(rows))

const aProduct = (changes: Readonly<Record<string, string>> = {}) => ({
  Handle: "oat-bar",
  Title: "Oat Bar",
  "Body (HTML)": "<p>Oats &amp; honey</p>",
  Vendor: "Field Mill ",
  "Product Category": "Food, Beverages & Tobacco > Food Items > Snack Foods",
  Type: "Bars",
  Tags: "oats, honey,, oats",
  Published: "true",
  "Option1 Name": "Title",
  "Option1 Value": "Default Title",
  "Option2 Value": "",
  "Option3 Value": "",
  "Variant SKU": "'0042",
  "Variant Grams": "250.0201143",
  "Variant Inventory Tracker": "shopify",
  "Variant Inventory Qty": "3",
  "Variant Inventory Policy": "deny",
  "Variant Price": "5.70",
  "Variant Compare At Price": "6",
  "Variant Requires Shipping": "TRUE",
  "Variant Barcode": "'4000000000017",
  "Image Src": "https://cdn.example/oat.jpg?v=1",
  "Image Position": "1",
  "Google Shopping / Google Product Category": "",
  "Variant Image": "//cdn.example/oat-variant.jpg",
  Status: "active",
  "Cost per item": "1.10",
  ...changes
})
const aVariant = (changes: Readonly<Record<string, string>>) => {
  const { Handle, "Variant Price": price } = aProduct()
  return { Handle, "Variant Price": price, ...changes }
}
const variantWith = async (changes: Readonly<Record<string, string>>) => (await read(aProduct(changes))).variants[0]
const productWith = async (changes: Readonly<Record<string, string>>) => (await read(aProduct(changes))).products[0]

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
          height: null
        }
      ],
      rejects: [],
      problem: null
    })
  })

  it("of the new template says the same", async () => {
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

  it("without a title is another variant or picture of its handle", async () => {
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

  it("stands for itself: in any order the records give the same rows", async () => {
    const others = ["S", "M", "L"].map((size) =>
      aVariant({ "Option1 Value": size, "Image Src": `https://x.example/${size}.jpg` })
    )
    const rows = [aProduct(), ...others, aProduct({ Handle: "jam", Title: "Jam" })]
    const inOrder = await read(...rows)
    const shuffled = await read(...[4, 2, 0, 3, 1].map((place) => rows[place] ?? {}))
    const withoutLines = ({ variants, images, products }: typeof inOrder) => ({
      products: products.toSorted((a, b) => a.native_id.localeCompare(b.native_id)),
      variants: variants
        .map((variant) => ({ ...variant, position: 0 }))
        .sort((a, b) => a.native_id.localeCompare(b.native_id)),
      images: images.map(({ src }) => src).sort()
    })
    assert.deepStrictEqual(withoutLines(shuffled), withoutLines(inOrder))
  })

  it("counts lines from the header on, and records with line breaks by where they begin", async () => {
    const { variants } = await read(aProduct({ "Body (HTML)": "a\nb\n\nc" }), aVariant({ "Option1 Value": "M" }))
    assert.deepStrictEqual(
      variants.map(({ position }) => position),
      [2, 6]
    )
  })
})

describe("whether a product is published", () => {
  it.each([
    [{ Status: "active", Published: "TRUE" }, true],
    [{ Status: "", Published: "" }, true],
    [{ Status: "draft" }, false],
    [{ Status: "archived" }, false],
    [{ Status: "Unlisted" }, false],
    [{ Published: "false" }, false],
    [{ Published: "FALSE", Status: "" }, false]
  ])("%j: %s", async (changes, expected) => {
    assert.strictEqual((await productWith(changes))?.is_published, expected)
  })

  it("is taken for granted where the export has no such columns", async () => {
    const { products } = await read({ Handle: "a", Title: "A", "Variant Price": "1" })
    assert.isTrue(products[0]?.is_published)
  })
})

describe("whether a variant is available", () => {
  it.each([
    ["some in stock", {}, true],
    ["none in stock", { "Variant Inventory Qty": "0" }, false],
    ["fewer than none", { "Variant Inventory Qty": "-2" }, false],
    ["sold all the same", { "Variant Inventory Qty": "0", "Variant Inventory Policy": "continue" }, true],
    ["stock is not tracked", { "Variant Inventory Qty": "0", "Variant Inventory Tracker": "" }, true],
    ["tracked, and no number", { "Variant Inventory Qty": "" }, null]
  ])("%s", async (_name, changes, expected) => {
    assert.strictEqual((await variantWith(changes))?.available, expected)
  })

  it("is not known where nothing is said of stock", async () => {
    const { variants } = await read({ Handle: "a", Title: "A", "Variant Price": "1" })
    assert.isNull(variants[0]?.available)
  })
})

describe("cells of a variant", () => {
  it.each([
    ["0.00", "0"],
    ["5", "5"],
    ["1,299.50", "1299.5"],
    ["", null]
  ])("the price %j is %j", async (price, expected) => {
    assert.strictEqual((await variantWith({ "Variant Price": price, "Variant Compare At Price": "" }))?.price, expected)
  })

  it.each(["", "0", "0.00", "5.70", "5.699"])("the compare-at price %j is none above 5.70", async (compareAt) => {
    assert.isNull((await variantWith({ "Variant Compare At Price": compareAt }))?.compare_at_price)
  })

  it.each([
    ["250.0201143", 250],
    ["0.0", null],
    ["", null],
    ["heavy", null],
    ["4989.51607", 4990]
  ])("%j grams are %j", async (grams, expected) => {
    assert.strictEqual((await variantWith({ "Variant Grams": grams }))?.grams, expected)
  })

  it("tell variants apart whatever their options hold", async () => {
    const values = [
      ["a/b", "c", ""],
      ["a", "b/c", ""],
      ["a\\", "b", ""],
      ["a", "", "b"],
      ["a", "b", ""],
      ["a", "", ""]
    ]
    const rows = values.map(([one = "", two = "", three = ""]) =>
      aVariant({ "Option1 Value": one, "Option2 Value": two, "Option3 Value": three })
    )
    const { variants } = await read(aProduct(), ...rows)
    assert.strictEqual(new Set(variants.map(({ native_id }) => native_id)).size, 7)
    assert.deepStrictEqual(
      variants.map(({ title }) => title),
      ["Default Title", "a/b / c", "a / b/c", "a\\ / b", "a / b", "a / b", "a"]
    )
  })

  it("name no address that a browser would not load", async () => {
    const changes = { "Image Src": "javascript:alert(1)", "Variant Image": "images/oat.jpg" }
    const { images, variants } = await read(aProduct(changes))
    assert.deepStrictEqual([images.length, variants[0]?.image_src], [0, null])
  })

  it("place a picture by its line where no position is given", async () => {
    const { images } = await read(aProduct(), { Handle: "oat-bar", "Image Src": "https://x.example/2.jpg" })
    assert.deepStrictEqual(
      images.map(({ position }) => position),
      [1, 3]
    )
  })
})

describe("the category that a product states", () => {
  it("is Google's where both are given", async () => {
    const changes = { "Google Shopping / Google Product Category": "5553" }
    assert.strictEqual((await productWith(changes))?.stated_category, "5553")
  })

  it.each(["", "Uncategorized"])("is none where it is %j", async (category) => {
    assert.isNull((await productWith({ "Product Category": category }))?.stated_category)
  })

  it("is a standardized product type in older exports, beside a type of the shop's own", async () => {
    const { products } = await read({
      Handle: "a",
      Title: "A",
      "Variant Price": "1",
      "Standardized Product Type": "Food > Jam",
      "Custom Product Type": "Jams"
    })
    assert.deepStrictEqual([products[0]?.stated_category, products[0]?.product_type], ["Food > Jam", "Jams"])
  })
})

describe("records that cannot be used", () => {
  it("are rejected one by one, with their lines and their text", async () => {
    const payload = csvOf([
      aProduct(),
      aProduct({ Handle: "" }),
      aProduct({ Handle: "jam", "Variant Price": "free" }),
      aProduct({ Handle: "tea", "Variant Compare At Price": "12,5" }),
      aProduct({ Handle: "rice" })
    ])
    const { rejects, rows, problem } = await readWhole(readShopifyCsv, payload)
    assert.deepStrictEqual([rows, problem], [["oat-bar", "rice"], null])
    assert.deepStrictEqual(
      rejects.map(({ position, reason }) => [position, reason]),
      [
        [3, "it has no handle"],
        [4, 'its price is "free", which is no price'],
        [5, 'its compare-at price is "12,5", which is no price']
      ]
    )
    assert.strictEqual(rejects[0]?.payload, `${payload.split("\n")[2]}\n`)
  })

  it("are kept up to 10,000 characters", async () => {
    const { rejects } = await read(aProduct({ Handle: "", "Body (HTML)": "x".repeat(50_000) }))
    assert.strictEqual(rejects[0]?.payload.length, 10_000)
  })

  it("is one with tags without end", async () => {
    const { rejects, rows } = await read(aProduct({ Tags: ",".repeat(1000) }), aProduct({ Handle: "rye-bar" }))
    assert.deepStrictEqual([rejects[0]?.reason, rows], ["it has 1001 tags, and up to 1000 are read", ["rye-bar"]])
  })

  it("are those with bytes that are no text", async () => {
    const bytes = Buffer.concat([
      bytesOf("Handle,Title,Variant Price\na,Gr"),
      Buffer.from([0xfc]),
      bytesOf("n,1\nb,Blau,2\n")
    ])
    const { rejects, rows } = await readWhole(readShopifyCsv, bytes)
    assert.deepStrictEqual(rows, ["b"])
    assert.include(rejects[0]?.reason, "bytes that are no text")
  })
})

describe("files that cannot be read", () => {
  it("lack a column that is needed", async () => {
    const { problem, rows } = await readWhole(readShopifyCsv, "Handle,Name\na,A\n")
    assert.strictEqual(
      problem,
      'This is no product export of Shopify: line 1 should name the columns, and lacks "title", "variant price" or "price". It begins with "Handle,Name".'
    )
    assert.deepStrictEqual(rows, [])
  })

  it.each(["", "\n \n", "\uFEFF"])("are empty: %j", async (text) => {
    assert.strictEqual((await readWhole(readShopifyCsv, text)).problem, "The file is empty.")
  })

  it("are pages of HTML", async () => {
    const { problem } = await readWhole(readShopifyCsv, "<!doctype html>\n<html><body>Just a moment</body></html>")
    assert.include(problem, "This is no product export of Shopify")
  })

  it("end within a record; what stands before is read", async () => {
    const whole = csvOf([aProduct(), aProduct({ Handle: "jam" })])
    const { problem, rows } = await readWhole(readShopifyCsv, whole.slice(0, -30))
    assert.deepStrictEqual(rows, ["oat-bar"])
    assert.include(problem, "line 3")
  })
})

describe("an export in other dress", () => {
  it("may have a mark at its beginning, CRLF, other cases and columns that nobody knows", async () => {
    const text = "\uFEFFHANDLE;Fancy;title;VARIANT  PRICE\r\na;x;A;1.5\r\nb;y;B;2\r\n"
    const { products, variants } = await readWhole(readShopifyCsv, text)
    assert.deepStrictEqual(
      products.map(({ native_id, title }) => [native_id, title]),
      [
        ["a", "A"],
        ["b", "B"]
      ]
    )
    assert.deepStrictEqual(
      variants.map(({ price }) => price),
      ["1.5", "2"]
    )
  })

  it("gives the same rows whatever is in it: what is read, is read once", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", "é", " "), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 20 }), async (titles) => {
        const rows = titles.map((title, number) =>
          aProduct({ Handle: `h${number}`, Title: `t${title}`, "Body (HTML)": title })
        )
        const { products, problem, rejects } = await read(...rows)
        const tidied = titles.map((title) => `t${title}`.replace(/\s+/g, " ").trim())
        assert.deepStrictEqual([products.map(({ title }) => title), problem, rejects], [tidied, null, []])
      })
    )
  })
})

describe("an export of any size", () => {
  const header = "Handle,Title,Body (HTML),Variant Price,Option1 Value,Image Src\n"
  const row = (number: number) =>
    `h${number % 7 === 0 ? number - 1 : number},Oats ${number},"One\n""two"" ${"three ".repeat(400)}",${number}.50,,https://x.example/${number}.jpg\n`

  it("200 MB are read in constant memory", async () => {
    const { growth, rows } = await readMeasured(readShopifyCsv(manyRows(200, header, row, ""), { currency: null }))
    assert.isAbove(rows, 70_000)
    assert.isBelow(growth, 30)
  })

  it("is read no faster than its rows are taken, and closed when nobody wants more", async () => {
    let pulled = 0
    let isClosed = false
    async function* counted() {
      try {
        for await (const piece of manyRows(20, header, row, "")) {
          pulled++
          yield piece
        }
      } finally {
        isClosed = true
      }
    }
    for await (const batch of readShopifyCsv(counted(), { currency: null })) {
      assert.isAtMost(batch.rows.length, 500)
      break
    }
    assert.isAtMost(pulled, 40) // of some 330
    assert.isTrue(isClosed)
  })
})
