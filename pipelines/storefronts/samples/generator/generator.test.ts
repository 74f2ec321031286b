import { assert, describe, it } from "@effect/vitest"
import Papa from "papaparse"
import {
  centsOf,
  countStorefront,
  itemsOf,
  nothing,
  type StorefrontProduct,
  storefrontProducts,
  textOf
} from "./counts-for-tests.ts"
import { googleFeed, writtenGoogle } from "./google-merchant.ts"
import { productAt, productsOf } from "./product.ts"
import { plainCsv, plainFeed } from "./recordings.ts"
import { type CsvForm, shopifyCsv, writtenCsv } from "./shopify-csv.ts"
import { shopifyCollections, shopifyMembers, shopifyMeta, shopifyPage, writtenShopify } from "./shopify-json.ts"
import { invented } from "./store.ts"
import { wooPage, writtenWoo } from "./woocommerce.ts"
import { type Written, writtenTogether } from "./written.ts"

const stores = [1, 2, 3, 4].map((number) => invented({ products: 300, seed: 3, number })) // a theme each
const [pantry = invented({ products: 300, seed: 3 })] = stores

const summary = ({ images, price_sum, products, variants }: Written) => ({ products, variants, images, price_sum })

const pagesOf = (page: (number: number) => string) => {
  const products: Array<StorefrontProduct> = []
  for (let number = 1; ; number++) {
    const found = storefrontProducts(page(number))
    if (found.length === 0) return products
    products.push(...found)
  }
}

describe("products of invented stores", () => {
  it("do not change when a store gets newer ones", () => {
    const larger = { ...pantry, products: 301 }
    assert.deepStrictEqual([...productsOf(larger)].slice(1), [...productsOf(pantry)])
  })
  it("do not depend on what was asked for before", () => {
    const alone = productAt(pantry, 150)
    productAt(pantry, 9)
    assert.deepStrictEqual(productAt(pantry, 150), alone)
  })
  it("are others with another seed", () => {
    const titles = (seed: number) => [...productsOf({ ...pantry, seed, products: 50 })].map(({ title }) => title)
    assert.notDeepEqual(titles(4), titles(5))
  })
  it("have ids and handles of their own, over all stores of a platform", () => {
    const ids = new Set<number>()
    let expected = 0
    for (const store of stores) {
      const products = [...productsOf({ ...store, products: 2_000 })]
      assert.strictEqual(new Set(products.map(({ handle }) => handle)).size, products.length)
      for (const { id, pictures, variants } of products) {
        for (const own of [id, ...variants.map((variant) => variant.id), ...pictures.map((picture) => picture.id)]) {
          ids.add(own)
          expected += 1
        }
      }
    }
    assert.strictEqual(ids.size, expected)
    assert.isTrue([...ids].every((id) => Number.isSafeInteger(id) && id > 2 ** 31))
  })
  it("come newest first", () => {
    for (const store of stores) {
      const times = Array.from(productsOf(store), ({ published }) => published)
      assert.deepStrictEqual(
        times,
        times.toSorted((a, b) => b - a)
      )
    }
  })
})

describe("storefront JSON", () => {
  it.each(stores)("of $domain holds what the count says", (store) => {
    const products = pagesOf((page) => shopifyPage(store, page))
    const { cents, ...counted } = countStorefront(products)
    assert.deepStrictEqual({ ...counted, price_sum: textOf(cents) }, summary(writtenShopify(store)))
    const variants = products.flatMap((product) => product.variants)
    const { reduced, sold_out } = writtenShopify(store)
    assert.strictEqual(variants.filter(({ available }) => !available).length, sold_out)
    const above = variants.filter(
      ({ compare_at_price, price }) => compare_at_price !== null && centsOf(compare_at_price) > centsOf(price)
    )
    assert.strictEqual(above.length, reduced)
  })
  it("has full pages, a rest and then empty ones", () => {
    const lengths = [1, 2, 3, 4].map((page) => storefrontProducts(shopifyPage(pantry, page)).length)
    assert.deepStrictEqual(lengths, [250, 50, 0, 0])
  })
  it("has pages of other lengths with the same products", () => {
    const ids = (limit: number) => pagesOf((page) => shopifyPage(pantry, page, limit)).map(({ id }) => id)
    assert.deepStrictEqual(ids(30), ids(250))
  })
  it("escapes as on the wire", () => {
    const text = shopifyPage(pantry, 1)
    assert.notMatch(text, /[<>&]|[^\\]\//)
    assert.include(text, "\\u003cp\\u003e")
    assert.include(text, "https:\\/\\/")
  })
  it("gives the time of the answer as updated_at of all of a page", () => {
    const times = [1, 2].map((page) => {
      const products = storefrontProducts(shopifyPage(pantry, page))
      return new Set(products.flatMap(({ updated_at, variants }) => [updated_at, ...variants.map((v) => v.updated_at)]))
    })
    assert.deepStrictEqual(
      times.map((of) => [...of]),
      [["2026-11-20T06:30:00+00:00"], ["2026-11-20T06:30:03+00:00"]]
    )
  })
  it("changes its offset with daylight saving", () => {
    const store = { ...pantry, minutes_apart: 10_000 }
    const offsets = storefrontProducts(shopifyPage(store, 1)).map(({ published_at }) => published_at.slice(19))
    assert.deepStrictEqual(new Set(offsets), new Set(["+00:00", "+01:00"]))
  })
  it("adds up over stores", () => {
    const counts = [40, 60].map((products, i) => writtenShopify(invented({ products, seed: 1, number: i + 1 })))
    const together = writtenTogether(counts)
    assert.strictEqual(together.products, 100)
    const cents = counts.reduce((sum, { price_sum }) => sum + centsOf(price_sum), 0n)
    assert.strictEqual(together.price_sum, textOf(cents))
  })
})

describe("collections", () => {
  it.each(stores)("of $domain count more than they show, and may be empty", (store) => {
    const { collections } = JSON.parse(shopifyCollections(store, 1)) as {
      readonly collections: ReadonlyArray<{ readonly handle: string; readonly products_count: number }>
    }
    assert.lengthOf(collections, 4)
    assert.isTrue(collections.some(({ handle }) => /[^a-z-]/.test(handle)))
    const listed = new Set(pagesOf((page) => shopifyPage(store, page)).map(({ id }) => id))
    const sizes = collections.map(({ handle }) => {
      const members = pagesOf((page) => shopifyMembers(store, handle, page) ?? "")
      assert.isTrue(members.every(({ id }) => listed.has(id)))
      return members.length
    })
    assert.strictEqual(sizes.at(-1), 0)
    assert.isTrue(sizes.slice(0, 3).every((size) => size > 0))
    assert.isTrue(collections.some(({ products_count }, i) => products_count > (sizes[i] ?? 0)))
    assert.deepStrictEqual(JSON.parse(shopifyCollections(store, 2)), { collections: [] })
  })
  it("are unknown by other handles", () => assert.isUndefined(shopifyMembers(pantry, "none", 1)))
  it("and products are counted in meta.json", () => {
    const meta = JSON.parse(shopifyMeta(pantry)) as Readonly<Record<string, unknown>>
    assert.strictEqual(meta.published_products_count, 300)
    assert.strictEqual(meta.published_collections_count, 4)
  })
})

const forms: ReadonlyArray<CsvForm> = [
  plainCsv,
  { dialect: "classic", newline: "\r\n", byteOrderMark: false },
  { dialect: "new", newline: "\n", byteOrderMark: true }
]

const recordsOf = (text: string) =>
  Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: true,
    transformHeader: (name) => name.toLowerCase()
  })

describe("product CSV", () => {
  const cases = forms.flatMap((form) =>
    stores.map((store) => ({ form, store, of: `${store.domain}, ${form.dialect}` }))
  )
  it.each(cases)("of $of holds what the count says", ({ form, store }) => {
    const { data, errors } = recordsOf([...shopifyCsv(store, form)].join(""))
    assert.deepStrictEqual(errors, [])
    const isNew = form.dialect === "new"
    const [handle, price, image] = isNew
      ? ["url handle", "price", "product image url"]
      : ["handle", "variant price", "image src"]
    const published = isNew ? "published on online store" : "published"
    const onSale = new Set(
      data
        .filter((row) => row.title !== "" && row.status === "active" && row[published]?.toLowerCase() === "true")
        .map((row) => row[handle])
    )
    const counted = { ...nothing(), products: onSale.size }
    let leftOut = 0
    for (const row of data) {
      if (!onSale.has(row[handle])) {
        leftOut += 1
        continue
      }
      if (row[price] !== "") {
        counted.variants += 1
        counted.cents += centsOf(row[price] ?? "")
      }
      if (row[image] !== "") counted.images += 1
    }
    const { cents, ...counts } = counted
    assert.deepStrictEqual({ ...counts, price_sum: textOf(cents) }, summary(writtenCsv(store)))
    assert.strictEqual(data.length, writtenCsv(store).rows)
    assert.strictEqual(leftOut, writtenCsv(store).left_out)
  })
  it("has rows of a handle apart, rows that are only a picture, quotes before barcodes", () => {
    const { data } = recordsOf([...shopifyCsv(pantry, plainCsv)].join(""))
    const handles = data.map((row) => row.handle ?? "")
    const runs = handles.filter((handle, i) => handle !== handles[i - 1])
    assert.isAbove(runs.length, new Set(handles).size)
    assert.isTrue(data.some((row) => row["variant price"] === "" && row["image src"] !== ""))
    assert.isTrue(data.some((row) => row["variant barcode"]?.startsWith("'")))
    assert.isTrue(data.some((row) => /^\d+$/.test(row["variant price"] ?? "")))
    assert.isTrue(data.some((row) => /\.\d$/.test(row["variant price"] ?? "")))
    assert.isTrue(data.some((row) => /\.\d{3,}$/.test(row["variant grams"] ?? "")))
  })
  it("ends its lines as asked, and marks the byte order", () => {
    const [windows, marked] = forms.slice(1).map((form) => [...shopifyCsv(pantry, form)].join(""))
    assert.match(windows ?? "", /^Handle,.*Status\r\n/)
    assert.match(marked ?? "", /^\uFEFFTitle,URL handle,/)
  })
})

describe("Google feed", () => {
  it.each(stores)("of $domain holds what the count says", (store) => {
    const items = itemsOf([...googleFeed(store, plainFeed)].join(""))
    const first = (item: (typeof items)[number], ...names: ReadonlyArray<string>) =>
      names.map((name) => item.get(name)?.[0]).find((text) => text !== undefined) ?? ""
    const unique = new Map(items.map((item) => [first(item, "g:id"), item]))
    const products = new Set([...unique.values()].map((item) => first(item, "g:item_group_id", "g:id")))
    const pictures = new Set<string>()
    let cents = 0n
    for (const item of unique.values()) {
      assert.notStrictEqual(first(item, "g:title", "title"), "")
      const [price, sale = price] = [item.get("g:price")?.[0], item.get("g:sale_price")?.[0]].map(
        (text) => text?.split(" ")[0]
      )
      const [now, before] = [centsOf(sale ?? ""), centsOf(price ?? "")]
      cents += now < before ? now : before
      for (const name of ["g:image_link", "g:additional_image_link"])
        for (const src of item.get(name) ?? []) pictures.add(src)
    }
    const written = writtenGoogle(store)
    assert.strictEqual(items.length, written.rows)
    assert.strictEqual(items.length - unique.size, written.duplicates)
    assert.deepStrictEqual(
      { products: products.size, variants: unique.size, images: pictures.size, price_sum: textOf(cents) },
      summary(written)
    )
  })
  it("is not well-formed, has shipping with a price, titles side by side, groups", () => {
    const text = [...googleFeed(pantry, plainFeed)].join("")
    for (const oddity of [
      /<g:link>[^<]*&utm/,
      /<g:shipping>\s+<g:country>/,
      /<title>[^<]+<\/title>\s+<g:title>/,
      /<g:item_group_id>/
    ])
      assert.match(text, oddity)
  })
  it("indents and ends its lines as asked", () => {
    const text = [...googleFeed(pantry, { indent: "\u00a0\u00a0", newline: "\r\n", byteOrderMark: true })].join("")
    assert.match(text, /^\uFEFF<\?xml/)
    assert.include(text, "\r\n\u00a0\u00a0\u00a0\u00a0<item>\r\n")
    assert.notMatch(text, /[^\r]\n/)
    assert.strictEqual(itemsOf(text).length, writtenGoogle(pantry).rows)
  })
  it("of a million products begins at once", () => {
    const pieces = googleFeed(invented({ products: 1_000_000, seed: 1 }), plainFeed)
    assert.match(pieces.next().value ?? "", /<channel>/)
    assert.match(pieces.next().value ?? "", /-1001000</)
    pieces.return(undefined)
  })
})

describe("WooCommerce", () => {
  it.each(stores)("pages of $domain hold what the count says", (store) => {
    const counted = nothing()
    for (let page = 1; page <= 4; page++) {
      const products = JSON.parse(wooPage(store, page)) as ReadonlyArray<{
        readonly prices: { readonly price: string }
        readonly images: ReadonlyArray<unknown>
      }>
      assert.lengthOf(products, page < 4 ? 100 : 0)
      for (const { images, prices } of products) {
        counted.products += 1
        counted.variants += 1
        counted.images += images.length
        counted.cents += BigInt(prices.price)
      }
    }
    const { cents, ...counts } = counted
    assert.deepStrictEqual({ ...counts, price_sum: textOf(cents) }, summary(writtenWoo(store)))
  })
  it("escapes all but ASCII", () => assert.match(wooPage(pantry, 1), /^[ -~]+$/))
})

describe("the oddities of shops", () => {
  const products = pagesOf((page) => shopifyPage(invented({ products: 60, seed: 1, number: 1 }), page))
  const variants = products.flatMap((product) => product.variants)
  const compared = variants.filter(({ compare_at_price }) => compare_at_price !== null)
  it.each([
    ["a gift card", () => products.some((p) => p.handle === "gift-card" && !p.variants[0]?.requires_shipping)],
    ["a fee", () => products.some((p) => p.tags.includes("hidden"))],
    ["no product type", () => products.some((p) => p.product_type === "")],
    ["vendors with trailing blanks", () => products.some((p) => p.vendor.endsWith(" "))],
    ["machine tags", () => products.some((p) => p.tags.some((tag) => tag.includes("::")))],
    ["scripts", () => products.some((p) => p.body_html.includes("<script>"))],
    ["tables", () => products.some((p) => p.body_html.includes("<table"))],
    ["lists", () => products.some((p) => p.body_html.includes("<li>"))],
    ["entities", () => products.some((p) => p.body_html.includes("&nbsp;"))],
    ["no description", () => products.some((p) => p.body_html === "")],
    ["no picture", () => products.some((p) => p.images.length === 0)],
    ["handles beyond ASCII", () => products.some((p) => /[^ -~]/.test(p.handle))],
    ["two options", () => variants.some((v) => v.option2 !== null)],
    ["no choice", () => variants.some((v) => v.title === "Default Title")],
    ["no sku in two ways", () => ["", null].every((none) => variants.some((v) => v.sku === none))],
    ["variants that are sold out", () => variants.some((v) => !v.available)],
    ["pictures of variants", () => variants.some((v) => v.featured_image !== null)],
    ["prices of nothing", () => variants.some((v) => v.price === "0.00")],
    ["former prices above", () => compared.some((v) => Number(v.compare_at_price) > Number(v.price))],
    ["former prices that are equal", () => compared.some((v) => v.compare_at_price === v.price)],
    ["former prices of nothing", () => compared.some((v) => v.compare_at_price === "0.00")],
    [
      "products older than their creation",
      () => products.some((p) => Date.parse(p.published_at) < Date.parse(p.created_at))
    ]
  ])("%s: within sixty products", (_, isThere) => assert.isTrue(isThere()))
})
