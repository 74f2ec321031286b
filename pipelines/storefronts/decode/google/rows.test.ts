/** How the fields of an item of a feed for Google are read, apart from its prices. */
import { assert, describe, expect, it } from "@effect/vitest"
import { readWhole } from "@larder/test/support/pipelines/file-feeds.ts"
import { anItem } from "@larder/test/support/pipelines/large-feeds.ts"
import { readGoogleMerchant } from "./google-merchant.ts"

const read = (...items: ReadonlyArray<string>) =>
  readWhole(readGoogleMerchant, `<rss><channel>${items.join("")}</channel></rss>`, "EUR")

const variantWith = async (changes: Readonly<Record<string, string | null>>) =>
  (await read(anItem(changes))).variants[0]
const productWith = async (changes: Readonly<Record<string, string | null>>) =>
  (await read(anItem(changes))).products[0]

describe("the values of an item", () => {
  it.each([
    ["in stock", true],
    ["in_stock", true],
    ["In Stock ", true],
    ["https://schema.org/InStock", true],
    ["preorder", true],
    ["backorder", true],
    ["available for order", true],
    ["out of stock", false],
    ["out_of_stock", false],
    ["OnBackorder", true],
    ["on backorder", true],
    ["backordered", true],
    ["low stock", true],
    ["true", true],
    ["1", true],
    ["http://schema.org/InStock", true],
    ["https://www.schema.org/OutOfStock", false],
    ["temporarily out of stock", false],
    ["coming soon", false],
    ["coming_soon", false],
    ["discontinued", false],
    ["false", false],
    ["0", false],
    ["", null],
    ["In Stock (12)", true],
    ["Out of stock (0)", false],
    ["na skladě", null],
    ["não", null],
    ["available soon", null]
  ])("read the availability %j as %s", async (availability, expected) => {
    assert.strictEqual((await variantWith({ "g:availability": availability }))?.available, expected)
  })

  it.each([
    ["https://shop.example/p/red-lentils", "red-lentils"],
    ["https://shop.example/p/red-lentils/?v=1", "red-lentils"],
    ["https://shop.example/p/red-lentils.html", "red-lentils"],
    ["https://shop.example/p/%D8%AC%D9%87-1.html", "جه-1"],
    ["https://shop.example/p/%FF", "%FF"],
    ["https://shop.example/product.html?id=1", null],
    ["https://shop.example/details?slug=red-lentils", "red-lentils"],
    ["https://shop.example/details.php?id=4&amp;handle=red%20lentils", "red lentils"],
    ["https://shop.example/p/red-lentils?slug=", "red-lentils"],
    ["https://shop.example/", null],
    ["/p/red-lentils", null],
    ["javascript:alert(1)", null]
  ])("read from the address %j the handle %j", async (link, expected) => {
    assert.strictEqual((await productWith({ "g:link": link }))?.handle, expected)
  })

  it("use a number as category, and the first of several paths as type", async () => {
    const product = await productWith({
      "g:google_product_category": "505783",
      "g:product_type": "A &gt;B</g:product_type><g:product_type>C"
    })
    assert.deepStrictEqual([product?.stated_category, product?.product_type], ["505783", "A > B"])
  })

  it("include each picture once, and only with a web address", async () => {
    const more = ["https://cdn.example/1.jpg", "//cdn.example/3.jpg", "file:///etc/passwd", "https://cdn.example/4.jpg"]
    const additional = more.join("</g:additional_image_link><g:additional_image_link>")
    const { images } = await read(anItem({ "g:additional_image_link": additional }))
    assert.deepStrictEqual(
      images.map(({ src }) => src.split("/").at(-1)),
      ["1.jpg", "3.jpg", "4.jpg"]
    )
  })

  it.each([
    ["a.jpg,https://s.example/b.jpg, https://s.example/c.jpg", ["a.jpg", "b.jpg", "c.jpg"]],
    ["a.jpg;https://s.example/b.jpg;", ["a.jpg", "b.jpg"]],
    ["a.jpg|http://s.example/b.jpg", ["a.jpg", "b.jpg"]],
    ["a.jpg\n https://s.example/b.jpg", ["a.jpg", "b.jpg"]],
    ["w_300,h_200/a.jpg", ["w_300,h_200/a.jpg"]],
    ["w_300,h_200/https://s.example/a.jpg", ["w_300,h_200/https://s.example/a.jpg"]]
  ])("include each picture of the list %j", async (list, expected) => {
    const main = { "g:image_link": `https://s.example/${list}`, "g:additional_image_link": null }
    const additional = { "g:image_link": null, "g:additional_image_link": `https://s.example/${list}` }
    const addresses = expected.map((path) => expect.stringMatching(new RegExp(`^https?://s.example/${path}$`)))
    for (const changes of [main, additional]) {
      const { images, odd_values } = await read(anItem(changes))
      expect([images.map(({ src }) => src), odd_values]).toEqual([addresses, []])
    }
    assert.strictEqual((await variantWith(main))?.image_src, `https://s.example/${expected[0]}`)
    assert.isNull((await variantWith(additional))?.image_src)
  })

  it("are decoded once more if they are still escaped, and a description never is", async () => {
    const { images, products, variants } = await read(
      anItem({
        "g:title": "Salt &amp;amp; pepper",
        "g:description": "Salt &amp;amp;amp; pepper",
        "g:brand": "B &amp;amp; C",
        "g:item_group_id": "G",
        "g:size": "S &amp;amp; M",
        "g:color": "Black &amp;#38; white",
        "g:image_link": "https://s.example/i?a=1&amp;amp;w=2",
        "g:additional_image_link": null
      })
    )
    assert.deepInclude(products[0], { title: "Salt & pepper", vendor: "B & C", body_text: "Salt &amp; pepper" })
    assert.deepInclude(variants[0], { option1: "S & M", option2: "Black & white" })
    assert.strictEqual(images[0]?.src, "https://s.example/i?a=1&w=2")
  })

  it("keep their ids as they were sent", async () => {
    const [variant] = (await read(anItem({ "g:id": "A&amp;amp;B", "g:item_group_id": "C&amp;amp;D" }))).variants
    assert.deepInclude(variant, { native_id: "A&amp;B", product_native_id: "C&amp;D" })
  })
})

describe("ids that a spreadsheet abbreviated", () => {
  const lost =
    "a number that a spreadsheet abbreviated, so digits are lost: export the file again with this column as text"

  it.each([
    ["g:id", "id", "3.32E+13"],
    ["g:id", "id", "4,76e+12"],
    ["g:item_group_id", "item_group_id", "3E+13"]
  ])("reject an item whose %s is one", async (field, name, id) => {
    const { rejects, rows } = await read(anItem({ [field]: id }), anItem())
    assert.deepStrictEqual(
      [rejects.map(({ native_id, reason }) => [native_id, reason]), rows],
      [[[null, `its ${name} is "${id}", ${lost}`]], ["L-1"]]
    )
  })

  it.each(["5E13", "E+13", "3.32E+", "A3E+13"])("do not include %j", async (id) => {
    assert.deepStrictEqual((await read(anItem({ "g:id": id }))).rows, [id])
  })
})

describe("elements with a prefix", () => {
  const readItem = async (inner: string) =>
    (await readWhole(readGoogleMerchant, `<rss><channel>${inner}</channel></rss>`)).variants.map(
      ({ native_id, price, title }) => [native_id, title, price]
    )
  const google = 'xmlns:x="http://base.google.com/ns/1.0"'

  it("are read if each binds it, if the item does, and if the prefix is doubled", async () => {
    const item = (attribute: string, of: string, prefix: string) =>
      `<item${of}><${prefix}:id${attribute}>1</${prefix}:id><${prefix}:title${attribute}>A</${prefix}:title><${prefix}:price${attribute}>5 EUR</${prefix}:price></item>`
    for (const inner of [item(` ${google}`, "", "x"), item("", ` ${google}`, "x"), item("", "", "g:g")]) {
      assert.deepStrictEqual(await readItem(inner), [["1", "A", "5"]])
    }
  })

  it("are not read in another item, or if it is bound to something else", async () => {
    const own = `<item><x:id ${google}>1</x:id><x:title ${google}>A</x:title></item>`
    const other = '<item><g:id>2</g:id><g:title>B</g:title><x:price xmlns:x="urn:other">9 EUR</x:price></item>'
    assert.deepStrictEqual(await readItem(own + other), [
      ["1", "A", null],
      ["2", "B", null]
    ])
  })
})
