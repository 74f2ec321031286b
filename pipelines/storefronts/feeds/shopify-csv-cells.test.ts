/** Cells of a Shopify product export: what a column says of a product or a variant, one column at a time. */
import { assert, describe, it } from "@effect/vitest"
import { aProduct, aVariant, type Cells, read } from "@larder/test/support/pipelines/shopify-csv-rows.ts"

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
