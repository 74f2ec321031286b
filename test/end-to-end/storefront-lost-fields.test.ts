/**
 * Stores whose second feed lacks fields that had values. In one run they lack all optional fields, in another one needed
 * field each.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { parseRunRecord, removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Files, type Listed, outcomesOf, replayStores, rowsOf, shopifyPages, writeFiles } from "./storefronts.ts"

type Fields = Readonly<Record<string, unknown>>
type Kind = Listed["kind"]

const ids = [1, 2, 3, 4]

const makeTable = (separator: string, rows: ReadonlyArray<Fields>) =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.join(separator)}\n`)
    .join("")

/** A group of one item. */
const makeGroup = (id: number, { groups }: Fields) => (groups === undefined ? {} : { item_group_id: `${groups}-${id}` })

/** A feed of each kind: the fields of its products, and those of their variants, prices and groups. */
const makeFeed: Readonly<Record<Kind, (domain: string, fields: Fields, parts: Fields) => Files>> = {
  shopify: (domain, fields, parts) =>
    shopifyPages(domain, [
      {
        products: ids.map((id) => ({
          id,
          title: `Jam ${id}`,
          ...fields,
          variants: [{ id: id * 10, title: "Jar", price: "1.00", ...parts }]
        }))
      }
    ]),
  woocommerce: (domain, fields, parts) => {
    const prices = { price: "100", currency_code: "EUR", currency_minor_unit: 2, ...parts }
    const page = (number: number) => `${domain}/wp-json/wc/store/v1/products?per_page=100&page=${number}`
    return { [page(1)]: ids.map((id) => ({ id, name: `Jam ${id}`, ...fields, prices })), [page(2)]: [] }
  },
  "shopify-csv": (domain, fields) => ({
    [`${domain}/feed`]: makeTable(
      ",",
      ids.map((id) => ({ Handle: `jam-${id}`, Title: `Jam ${id}`, "Variant Price": "1.00", ...fields }))
    )
  }),
  "google-merchant": (domain, fields, parts) => ({
    [`${domain}/feed`]: makeTable(
      "\t",
      ids.map((id) => ({ id, title: `Jam ${id}`, price: "1.00 EUR", ...fields, ...makeGroup(id, parts) }))
    )
  })
}

const optional: Readonly<Record<Kind, readonly [fields: Fields, parts: Fields]>> = {
  shopify: [
    {
      vendor: "Maker",
      product_type: "Jam",
      tags: ["sweet"],
      body_html: "Fruit.",
      images: [{ id: 1, src: "https://pictures.example/1.png" }],
      published_at: "2026-01-01T00:00:00Z"
    },
    { sku: "S-1", grams: 300, available: true, requires_shipping: true }
  ],
  woocommerce: [
    {
      brands: [{ name: "Maker" }],
      categories: [{ name: "Jam" }],
      tags: [{ name: "sweet" }],
      description: "Fruit.",
      images: [{ src: "https://pictures.example/1.png" }],
      sku: "S-1",
      is_in_stock: true
    },
    {}
  ],
  "shopify-csv": [
    {
      Vendor: "Maker",
      Type: "Jam",
      Tags: "sweet",
      "Body (HTML)": "Fruit.",
      "Image Src": "https://pictures.example/1.png",
      "Variant Barcode": "4006381333931",
      "Variant Grams": "300",
      "Variant Inventory Policy": "continue",
      "Variant Requires Shipping": "true"
    },
    {}
  ],
  "google-merchant": [
    {
      brand: "Maker",
      product_type: "Jam",
      description: "Fruit.",
      image_link: "https://pictures.example/1.png",
      gtin: "4006381333931",
      shipping_weight: "300 g",
      availability: "in stock"
    },
    {}
  ]
}
const kinds = Object.keys(optional) as ReadonlyArray<Kind> // keys of a literal object, which TypeScript widens

/** Stores that lose one needed field each, and one of them an optional field too. Kept fields are parts. */
const needed: ReadonlyArray<
  readonly [name: string, kind: Kind, lost: string, fields: Fields, parts?: Fields, kept?: Fields]
> = [
  ["reduced-shop", "shopify", "variant compare_at_price", { vendor: "Maker" }, { compare_at_price: "2.00" }],
  ["sized-shop", "shopify", "variant option1", {}, { option1: "Small" }],
  ["reduced-woo", "woocommerce", "regular_price", {}, { regular_price: "200" }],
  [
    "reduced-export",
    "shopify-csv",
    "variant compare at price or compare-at price",
    { "Variant Compare At Price": "2.00" }
  ],
  ["sized-export", "shopify-csv", "option1 value", { "Option1 Value": "Small" }],
  ["numbered-export", "shopify-csv", "variant sku or sku", { "Variant SKU": "S-1" }],
  ["grouped", "google-merchant", "item_group_id", {}, { groups: "jams" }],
  ["sized", "google-merchant", "size or color", { size: "Small" }, {}, { groups: "jams" }]
]

const list = (domain: string, kind: Kind): Listed => ({
  domain,
  name: domain,
  kind,
  location: `https://${domain}${kind === "shopify" || kind === "woocommerce" ? "" : "/feed"}`
})
const optionalStores = kinds.map((kind) => list(`${kind}.example`, kind))
const neededStores = needed.map(([name, kind]) => list(`${name}.example`, kind))

const first: Files = Object.assign(
  { "stores.json": [...optionalStores, ...neededStores] },
  ...kinds.map((kind) => makeFeed[kind](`${kind}.example`, ...optional[kind])),
  ...needed.map(([name, kind, , fields, parts = {}, kept = {}]) =>
    makeFeed[kind](`${name}.example`, fields, { ...kept, ...parts })
  )
)
const withoutOptional: Files = Object.assign(
  { "stores.json": optionalStores },
  ...kinds.map((kind) => makeFeed[kind](`${kind}.example`, {}, {}))
)
const withoutNeeded: Files = Object.assign(
  { ...withoutOptional, "stores.json": [...optionalStores, ...neededStores] },
  ...needed.map(([name, kind, , , , kept = {}]) => makeFeed[kind](`${name}.example`, {}, kept))
)

const readValues = (domain: string) =>
  rowsOf(
    home,
    `select distinct vendor, product_type, tags, body_text, published_at, len(p.images)::integer as pictures,
      v.sku, v.barcode, v.grams::double as grams, v.available, v.requires_shipping
    from storefront.product p join storefront.store using (store_id) join storefront.variant v using (product_id)
    where domain = '${domain}'`
  )
const readNeeded = () =>
  rowsOf(
    home,
    `select domain, vendor, p.native_id as product, v.native_id as variant, v.compare_at_price, v.option1, v.sku
    from storefront.product p join storefront.store using (store_id) join storefront.variant v using (product_id)
    where domain in (${neededStores.map(({ domain }) => `'${domain}'`).join(", ")}) order by all`
  )

const home = temporaryFolder()
const replay = async (files: Files) => {
  const folder = writeFiles(temporaryFolder(), files)
  const { code, stderr, stdout } = await replayStores(home, folder)
  removeFolder(folder)
  return { code, stderr, outcome: parseRunRecord({ stdout }).outcome }
}
beforeAll(async () => {
  const { code, outcome, stderr } = await replay(first)
  expect({ code, outcome }, stderr).toEqual({ code: 0, outcome: "published" })
}, 120_000)
afterAll(() => removeFolder(home))

it("optional fields that vanish are null, also over earlier values, with one warning for each store", async () => {
  for (const kind of kinds) expect(await readValues(`${kind}.example`), kind).toMatchObject([{ vendor: "Maker" }])
  const { code, outcome, stderr } = await replay(withoutOptional)
  expect({ code, outcome }, stderr).toEqual({ code: 0, outcome: "published" })
  const outcomes = await outcomesOf(home)
  for (const kind of kinds) {
    expect(outcomes[`${kind}.example`]).toBe("complete complete")
    expect(await readValues(`${kind}.example`), kind).toEqual([
      {
        vendor: null,
        product_type: null,
        tags: [],
        body_text: null,
        published_at: null,
        pictures: 0,
        sku: null,
        barcode: null,
        grams: null,
        available: null,
        requires_shipping: null
      }
    ])
  }
  const warnings = [...stderr.matchAll(/the feed of (\S+)\.example has lost optional fields, .* null now: ([^\n"]+)/g)]
  const lost = warnings.map(([, kind, text = ""]) => {
    return [kind, text.replaceAll(" (before, 4 of 4 products had a value in it)", "").split(", ")]
  })
  expect(Object.fromEntries(lost)).toEqual({
    shopify: [
      "vendor",
      "product_type",
      "tags",
      "body_html",
      "images",
      "published_at",
      "variant sku",
      "variant grams",
      "variant available",
      "variant requires_shipping"
    ],
    woocommerce: ["brands", "categories", "tags", "description or short_description", "images", "sku", "is_in_stock"],
    "shopify-csv": [
      "vendor",
      "type or custom product type",
      "tags",
      "body (html) or description",
      "image src or product image url or image source",
      "variant barcode or barcode",
      "variant grams or weight value (grams)",
      "variant inventory qty or inventory quantity or variant inventory policy or continue selling when out of stock or variant inventory tracker or inventory tracker",
      "variant requires shipping or requires shipping"
    ],
    "google-merchant": [
      "brand",
      "product_type or category",
      "description or summary or content",
      "image_link or additional_image_link",
      "gtin",
      "shipping_weight",
      "availability"
    ]
  })
  expect(warnings).toHaveLength(kinds.length)
})

it("warns of a lost field once: the next read has nothing to lose", async () => {
  const { code, stderr } = await replay({
    ...withoutOptional,
    ...makeFeed["shopify-csv"]("shopify-csv.example", { Status: "active" }, {})
  })
  expect(code, stderr).toBe(0)
  expect(stderr).not.toMatch(/has lost/)
})

it("a needed field that vanishes makes the read unreadable, and the store keeps its rows", async () => {
  const before = await readNeeded()
  const { code, outcome, stderr } = await replay(withoutNeeded)
  expect({ code, outcome }, stderr).toEqual({ code: 4, outcome: "partial" })
  const outcomes = await outcomesOf(home)
  for (const [name, , lost] of needed) {
    expect(outcomes[`${name}.example`], name).toBe("failed unreadable")
    expect(stderr).toContain(`no product has the field ${lost} any more`)
  }
  expect(await readNeeded()).toEqual(before)
  expect(stderr, "of an optional field of a read that is not accepted").not.toMatch(/has lost/)
})
