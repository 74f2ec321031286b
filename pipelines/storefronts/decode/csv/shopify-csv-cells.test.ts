/** How each column of a Shopify product export is read. */
import { assert, describe, it } from "@effect/vitest"
import { readWhole } from "@larder/test/support/pipelines/file-feeds.ts"
import { aProduct, aVariant, type Cells, csvOf, read } from "@larder/test/support/pipelines/shopify-csv-rows.ts"
import { readShopifyCsv } from "./shopify-csv.ts"

const variantWith = async (changes: Cells) => (await read(aProduct(changes))).variants[0]
const productWith = async (changes: Cells) => (await read(aProduct(changes))).products[0]

describe("whether a product is published", () => {
  it.each([
    [{ Status: "active", Published: "TRUE" }, true],
    [{ Status: "", Published: "" }, true],
    [{ Status: "draft" }, false],
    [{ Status: "archived" }, false],
    [{ Status: "Unlisted" }, false],
    [{ Published: "false" }, false],
    [{ Published: "1" }, true],
    [{ Published: "yes" }, true],
    [{ Published: "0" }, false],
    [{ Published: "No" }, false],
    [{ Published: "FALSE", Status: "" }, false]
  ])("reads %j as %s", async (changes, expected) => {
    assert.strictEqual((await productWith(changes))?.is_published, expected)
  })

  it("is true when the export has no such columns", async () => {
    const { products } = await read({ Handle: "a", Title: "A", "Variant Price": "1" })
    assert.isTrue(products[0]?.is_published)
  })
})

describe("whether a variant is available", () => {
  it.each([
    ["is true with some in stock", {}, true],
    ["is true with a part in stock, with a comma", { "Variant Inventory Qty": "0,5" }, true],
    ["is false with none in stock", { "Variant Inventory Qty": "0" }, false],
    ["is false with a negative stock", { "Variant Inventory Qty": "-2" }, false],
    [
      "is true when selling continues without stock",
      { "Variant Inventory Qty": "0", "Variant Inventory Policy": "continue" },
      true
    ],
    ["is true when stock is not tracked", { "Variant Inventory Qty": "0", "Variant Inventory Tracker": "" }, true],
    ["is null when stock is tracked without a number", { "Variant Inventory Qty": "" }, null],
    ["is null when the number is not understood", { "Variant Inventory Qty": "many" }, null],
    ["is null when the number is NA", { "Variant Inventory Qty": "NA" }, null],
    ["is true with some in stock and a policy that is not understood", { "Variant Inventory Policy": "ask" }, true],
    [
      "is null with none in stock and a policy that is not understood",
      { "Variant Inventory Qty": "0", "Variant Inventory Policy": "ask" },
      null
    ]
  ])("%s", async (_name, changes, expected) => {
    assert.strictEqual((await variantWith(changes))?.available, expected)
  })

  it("is null when the export has no columns for stock", async () => {
    const { variants } = await read({ Handle: "a", Title: "A", "Variant Price": "1" })
    assert.isNull(variants[0]?.available)
  })
})

describe("prices of an export", () => {
  const priced = (...prices: ReadonlyArray<string>) =>
    prices.map((price, index) =>
      aProduct({ Handle: `tea-${index}`, "Variant Price": price, "Variant Compare At Price": "" })
    )
  const pricesOf = async (...prices: ReadonlyArray<string>) =>
    (await read(...priced(...prices))).variants.map(({ price }) => price)

  it("are read as the others of the file show, also those after them and those before a reduction", async () => {
    assert.deepStrictEqual(await pricesOf("1.299", "9,90"), ["1299", "9.9"])
    assert.deepStrictEqual(await pricesOf("1.299", "9.90"), ["1.299", "9.9"])
    const reduced = aProduct({ Handle: "cup", "Variant Price": "5", "Variant Compare At Price": "9,90" })
    const { variants } = await read(...priced("1.299"), reduced)
    assert.deepStrictEqual(
      variants.map(({ price }) => price),
      ["1299", "5"]
    )
  })

  it("are read with the currency of the store list", async () => {
    const { rejects, variants } = await readWhole(readShopifyCsv, csvOf(priced("45.000", "12.50")), "VND")
    assert.deepStrictEqual(
      variants.map(({ currency, price }) => [price, currency]),
      [["45000", null]]
    )
    assert.deepStrictEqual(
      rejects.map(({ reason }) => reason),
      ['its variant price is "12.50", which has a fraction, and VND has none']
    )
  })

  it("name their currency if they have its symbol", async () => {
    const { variants } = await read(...priced("€9.90"))
    assert.strictEqual(variants[0]?.currency, "EUR")
  })
})

describe("cells of a variant", () => {
  it.each([
    ["0.00", "0"],
    ["5", "5"],
    ["1,299.50", "1299.5"],
    ["9,90", "9.9"],
    ["1.299,00", "1299"],
    ["€9.90", "9.9"],
    ["&euro;9.90", "9.9"],
    ["N/A", null],
    ["", null]
  ])("give the price %j as %j", async (price, expected) => {
    assert.strictEqual((await variantWith({ "Variant Price": price, "Variant Compare At Price": "" }))?.price, expected)
  })

  it.each(["", "0", "0.00", "5.70", "5.699"])(
    "give no compare-at price for %j at a price of 5.70",
    async (compareAt) => {
      assert.isNull((await variantWith({ "Variant Compare At Price": compareAt }))?.compare_at_price)
    }
  )

  it.each([
    ["250.0201143", 250],
    ["0.0", null],
    ["", null],
    ["N/A", null],
    ["heavy", null],
    ["250,5", 251],
    ["4989.51607", 4990]
  ])("give %j grams as %j", async (grams, expected) => {
    assert.strictEqual((await variantWith({ "Variant Grams": grams }))?.grams, expected)
  })

  it("identify each variant, even when options contain separators", async () => {
    const values = [
      ["a/b", "c", ""],
      ["a", "b/c", ""],
      ["a\\", "b", ""],
      ["a", "", "b"],
      ["a", "b", ""],
      ["a", "", ""]
    ]
    const rows = values.map(([option1 = "", option2 = "", option3 = ""]) =>
      aVariant({ "Option1 Value": option1, "Option2 Value": option2, "Option3 Value": option3 })
    )
    const { variants } = await read(aProduct(), ...rows)
    assert.strictEqual(new Set(variants.map(({ native_id }) => native_id)).size, 7)
    assert.deepStrictEqual(
      variants.map(({ title }) => title),
      ["Default Title", "a/b / c", "a / b/c", "a\\ / b", "a / b", "a / b", "a"]
    )
  })

  it("keep NA in names and options, and have no code if it is NA", async () => {
    const changes = {
      Vendor: "NA",
      Title: "Null",
      "Option1 Value": "N/A",
      "Variant SKU": "NA",
      "Variant Barcode": "NA"
    }
    const { products, variants } = await read(aProduct(changes))
    assert.deepInclude(products[0], { title: "Null", vendor: "NA" })
    assert.deepInclude(variants[0], { option1: "N/A", sku: null, barcode: null })
  })

  it.each(["-", "--", "NA", "n/a", "Null", "'NA", "'"])("give the codes %j as null", async (code) => {
    const variant = await variantWith({ "Variant SKU": code, "Variant Barcode": code })
    assert.deepInclude(variant, { sku: null, barcode: null })
  })

  it("have their entities decoded once, and keep them in ids", async () => {
    const { images, products, variants } = await read(
      aProduct({
        Handle: "oats&amp;co",
        Title: "Oats &amp; Co",
        "Body (HTML)": "a &amp;amp; b",
        Vendor: "Field &#38; Mill",
        Tags: "oats &amp; honey, bars",
        "Option1 Value": "S &amp; M",
        "Variant SKU": "&#39;A&amp;B",
        "Variant Barcode": "A&amp;B",
        "Image Src": "https://x.example/1.jpg?a=1&amp;b=2"
      })
    )
    assert.deepInclude(products[0], {
      native_id: "oats&amp;co",
      title: "Oats & Co",
      body_text: "a &amp; b",
      vendor: "Field & Mill",
      tags: ["oats & honey", "bars"]
    })
    assert.deepInclude(variants[0], {
      native_id: "oats&amp;co/S &amp; M",
      option1: "S & M",
      title: "S & M",
      sku: "A&B",
      sent_sku: "&#39;A&amp;B",
      barcode: "A&B"
    })
    assert.strictEqual(images[0]?.src, "https://x.example/1.jpg?a=1&b=2")
  })

  it.each([
    ["https://x.example/a.jpg, https://x.example/b.jpg", ["a", "b"]],
    ["https://x.example/a.jpg;https://x.example/b.jpg", ["a", "b"]],
    ["https://x.example/w_1,h_2/a.jpg", ["w_1,h_2/a"]]
  ])("give the pictures of the list %j at the same position", async (list, names) => {
    const { images, variants } = await read(aProduct({ "Image Src": list, "Variant Image": list }))
    assert.deepStrictEqual(
      images.map(({ position, src }) => [position, src]),
      names.map((name) => [1, `https://x.example/${name}.jpg`])
    )
    assert.strictEqual(variants[0]?.image_src, `https://x.example/${names[0]}.jpg`)
  })

  it("are those of a picture alone if there is no price and no option, and the SKU is a placeholder", async () => {
    const { images, variants } = await read(
      aProduct(),
      aVariant({ "Variant Price": "", "Variant SKU": "--", "Image Src": "https://x.example/2.jpg" })
    )
    assert.deepStrictEqual([images.length, variants.length], [2, 1])
  })

  it("leave out pictures whose address a browser would not load", async () => {
    const changes = { "Image Src": "javascript:alert(1)", "Variant Image": "images/oat.jpg" }
    const { images, variants } = await read(aProduct(changes))
    assert.deepStrictEqual([images.length, variants[0]?.image_src], [0, null])
  })

  it("use the line as position of a picture without one", async () => {
    const { images } = await read(aProduct(), { Handle: "oat-bar", "Image Src": "https://x.example/2.jpg" })
    assert.deepStrictEqual(
      images.map(({ position }) => position),
      [1, 3]
    )
  })
})

describe("the category that a product states", () => {
  it("is the Google category if the export has both", async () => {
    const changes = { "Google Shopping / Google Product Category": "187" }
    assert.strictEqual((await productWith(changes))?.stated_category, "187")
  })

  it.each(["Uncategorized", "Sprzęt sportowy", "0"])(
    "is Shopify's when Google's is %j, which is not a category",
    async (google) => {
      const changes = { "Google Shopping / Google Product Category": google, "Product Category": "Furniture > Beds" }
      assert.strictEqual((await productWith(changes))?.stated_category, "Furniture > Beds")
    }
  )

  it.each(["", "Uncategorized"])("is null when it is %j", async (category) => {
    assert.isNull((await productWith({ "Product Category": category }))?.stated_category)
  })

  it("is the standardized product type in older exports, next to a custom type", async () => {
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
