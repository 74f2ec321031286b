/**
 * Stores in each form of feed, and the faults of their feeds. Each store has one fault, and one run reads stores with all
 * faults. A store lists four products, whose price differs between the first and the second read.
 */
import type { ServerResponse } from "node:http"
import type { ListedStore } from "@larder/pipelines"

export const forms = ["shopify", "woocommerce", "csv", "tsv", "xml"] as const
export type Form = (typeof forms)[number]

export const kindOf: Readonly<Record<Form, ListedStore["kind"]>> = {
  shopify: "shopify",
  woocommerce: "woocommerce",
  csv: "shopify-csv",
  tsv: "google-merchant",
  xml: "google-merchant"
}

export const oldPrice = "9.50"
export const newPrice = "9.75"
const ids = [1, 2, 3, 4]

const formatTable = (separator: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  `${rows.map((row) => row.join(separator)).join("\n")}\n`

const formatFeed: Readonly<Record<Form, (price: string) => string>> = {
  shopify: (price) =>
    JSON.stringify({
      products: ids.map((id) => ({
        id,
        title: `Product ${id}`,
        vendor: "Maker",
        body_html: "A text.",
        variants: [{ id: id * 10, title: "Default Title", price, sku: `S-${id}`, available: true }]
      }))
    }),
  woocommerce: (price) =>
    JSON.stringify(
      ids.map((id) => ({
        id,
        name: `Product ${id}`,
        brands: [{ name: "Maker" }],
        description: "A text.",
        prices: { price: price.replace(".", ""), currency_code: "EUR", currency_minor_unit: 2 }
      }))
    ),
  csv: (price) =>
    formatTable(",", [
      ["Handle", "Title", "Vendor", "Variant Price", "Variant SKU"],
      ...ids.map((id) => [`p-${id}`, `Product ${id}`, "Maker", price, `S-${id}`])
    ]),
  tsv: (price) =>
    formatTable("\t", [
      ["id", "title", "brand", "price", "link"],
      ...ids.map((id) => [`${id}`, `Product ${id}`, "Maker", `${price} EUR`, `https://shop.test/${id}`])
    ]),
  xml: (price) =>
    `<?xml version="1.0"?>\n<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel>\n${ids
      .map(
        (id) =>
          `<item><g:id>${id}</g:id><g:title>Product ${id}</g:title><g:brand>Maker</g:brand><g:price>${price} EUR</g:price></item>`
      )
      .join("\n")}\n</channel></rss>\n`
}

/** The feed of a store without a fault: its list of products. */
export const feedOf = (form: Form, price: string) => formatFeed[form](price)

/** The path of a store's list of products. */
export const pathOf: Readonly<Record<Form, string>> = {
  shopify: "/products.json",
  woocommerce: "/wp-json/wc/store/v1/products",
  csv: "/feed",
  tsv: "/feed",
  xml: "/feed"
}

/** Responds to a request for the list, or leaves the connection open without a response. */
type Respond = (response: ServerResponse, feed: string) => void

export interface StoreFault {
  /** Its name in the table of the docs. */
  readonly fault: string
  readonly form: Form
  /** The feed that the store sends instead. */
  readonly feed?: string | Buffer
  /** What the store does instead of sending a feed. */
  readonly respond?: Respond
  /** Header fields of its response. */
  readonly headers?: Readonly<Record<string, string>>
  readonly robots?: string
  /** The certificate of the store is not trusted. */
  readonly isDistrusted?: true
  /** The path of another interface, which the list names instead. */
  readonly path?: string
}

const isJson = (form: Form) => form === "shopify" || form === "woocommerce"
const isTable = (form: Form) => form === "csv" || form === "tsv"
const familyOf = (form: Form) => {
  if (isJson(form)) return "JSON"
  return isTable(form) ? "CSV and TSV" : "XML"
}

/** The names of a required and of an optional field in each form. */
const requiredFields: Readonly<Record<Form, string>> = {
  shopify: "price",
  woocommerce: "prices",
  csv: "Variant Price",
  tsv: "price",
  xml: "price"
}
const optionalFields: Readonly<Record<Form, string>> = {
  shopify: "vendor",
  woocommerce: "brands",
  csv: "Vendor",
  tsv: "brand",
  xml: "brand"
}

const renameField = (form: Form, feed: string, field: string) => {
  if (isJson(form)) return feed.replaceAll(`"${field}":`, `"new_${field}":`)
  if (form === "xml") return feed.replaceAll(`g:${field}>`, `g:new_${field}>`)
  return feed.replace(field, `New ${field}`)
}

const removeField = (form: Form, feed: string, field: string) => {
  if (isJson(form)) {
    return JSON.stringify(JSON.parse(feed, (key, value: unknown) => (key === field ? undefined : value)))
  }
  if (form === "xml") return feed.replaceAll(new RegExp(`<g:${field}>.*?</g:${field}>`, "g"), "")
  const separator = form === "csv" ? "," : "\t"
  const rows = feed.split("\n").map((line) => line.split(separator))
  const place = rows[0]?.indexOf(field)
  return rows.map((cells) => cells.filter((_, index) => index !== place).join(separator)).join("\n")
}

const addField = (form: Form, feed: string) => {
  if (isJson(form)) return feed.replaceAll('"id":', '"new":1,"id":')
  if (form === "xml") return feed.replaceAll("</item>", "<g:new>1</g:new></item>")
  const separator = form === "csv" ? "," : "\t"
  return feed.replaceAll(/(?<=.)\n/g, `${separator}New\n`)
}

/** Prices in another format: all of them, or only the first. */
const retypePrices = (form: Form, feed: string, first: boolean) => {
  const [from, to] = {
    shopify: [`"price":"${newPrice}"`, `"price":{"amount":"${newPrice}"}`],
    woocommerce: [`"price":"${newPrice.replace(".", "")}"`, '"price":"ask us"'],
    csv: [newPrice, "ask us"],
    tsv: [`${newPrice} EUR`, "ask us"],
    xml: [`${newPrice} EUR`, "ask us"]
  }[form] as [string, string]
  return first ? feed.replace(from, to) : feed.replaceAll(from, to)
}

const removePrices = (form: Form, feed: string) => {
  if (form === "shopify") return feed.replaceAll(`"price":"${newPrice}"`, '"price":null')
  if (form === "woocommerce") return feed.replaceAll(`"price":"${newPrice.replace(".", "")}"`, '"price":""')
  return feed.replaceAll(new RegExp(`(?<!Product 1.{0,90})${newPrice}( EUR)?`, "g"), "") // without any, the field is gone
}

/** All rows but the first lose their price, and all other fields of their variant. */
const removeVariants = (form: "shopify" | "csv", feed: string) => {
  if (form === "csv") return feed.replaceAll(new RegExp(`${newPrice},S-[2-4]`, "g"), ",")
  const { products }: { readonly products: ReadonlyArray<object> } = JSON.parse(feed)
  return JSON.stringify({ products: products.map((product, n) => (n === 0 ? product : { ...product, variants: [] })) })
}

const zeroPrices = (form: Form, feed: string) =>
  feed.replaceAll(form === "woocommerce" ? newPrice.replace(".", "") : newPrice, form === "woocommerce" ? "0" : "0.00")

/** The products of another store. */
const changeIds = (form: Form, feed: string) =>
  feed
    .replaceAll(/"id":(\d+)/g, '"id":9$1')
    .replaceAll(/\bp-(\d)/g, "q-$1")
    .replaceAll(/<g:id>(\d)/g, "<g:id>9$1")
    .replaceAll(form === "tsv" ? /^(\d)/gm : /$^/g, "9$1")

const emptyList: Readonly<Record<Form, (feed: string) => string>> = {
  shopify: () => '{"products":[]}',
  woocommerce: () => "[]",
  csv: (feed) => `${feed.split("\n")[0]}\n`,
  tsv: (feed) => `${feed.split("\n")[0]}\n`,
  xml: (feed) => feed.replaceAll(/<item>.*<\/item>\n/g, "")
}

const page = "<!DOCTYPE html><html><head><title>Welcome</title></head></html>"
const locked = '<!DOCTYPE html><title>Opening soon</title><form method="post" action="/password"></form>'

const cutAnywhere = "cut at any byte"
const cutAtLine = "CSV and TSV: cut at the end of a line"
const noProducts = (form: Form) => (form === "shopify" ? "Shopify: a list without products" : "a list without products")

/** The end of the feed's head. A feed that is cut off within its head is not a feed. */
const headOf = (form: Form, feed: string) => (isJson(form) ? 1 : feed.indexOf(isTable(form) ? "\n" : "<item>") + 1)

/** The feed cut at a random byte. A table that is cut after a line looks complete. */
const cutAtRandom = (form: Form, random: () => number): StoreFault => {
  const bytes = Buffer.from(feedOf(form, newPrice).trimEnd())
  const head = headOf(form, bytes.toString())
  const feed = bytes.subarray(0, head + Math.floor(random() * (bytes.length - head)))
  if (!isTable(form) || feed.at(-1) !== 0x0a) return { fault: cutAnywhere, form, feed }
  return { fault: feed.length === head ? noProducts(form) : cutAtLine, form, feed }
}

/** A table that is cut in its last line: within the last cell, and right before the end. */
const cutAtEnd = (form: Form): ReadonlyArray<StoreFault> =>
  [1, 2].map((bytes) => ({ fault: cutAnywhere, form, feed: feedOf(form, newPrice).slice(0, -bytes) }))

/** A table that is cut after a line: without the last product, and with the first product only. */
const cutAfterLines = (form: Form): ReadonlyArray<StoreFault> => {
  const lines = feedOf(form, newPrice).split("\n")
  return [2, 4].map((kept) => ({ fault: cutAtLine, form, feed: `${lines.slice(0, kept).join("\n")}\n` }))
}

const breakEncoding = (feed: string) => Buffer.from(feed.replace("Product 1", "Product \xe9 1"), "latin1")

/** The faulty feeds of all forms, by the fault's name in the table, which may depend on the form. */
const feedFaults: ReadonlyArray<
  readonly [string | ((form: Form) => string), (form: Form, feed: string) => string | Buffer]
> = [
  [
    (form) => `${familyOf(form)}: a needed field renamed`,
    (form, feed) => renameField(form, feed, requiredFields[form])
  ],
  [
    (form) => `${familyOf(form)}: a needed field missing`,
    (form, feed) => removeField(form, feed, requiredFields[form])
  ],
  ["a field renamed that had values", (form, feed) => renameField(form, feed, optionalFields[form])],
  ["a field missing that had values", (form, feed) => removeField(form, feed, optionalFields[form])],
  ["a field added", addField],
  ["all prices of another type", (form, feed) => retypePrices(form, feed, false)],
  ["one price of another type", (form, feed) => retypePrices(form, feed, true)],
  ["prices that vanish", removePrices],
  ["prices that become 0", zeroPrices],
  ["the feed of another store", changeIds],
  [noProducts, (form, feed) => emptyList[form](feed)],
  ["an empty response", () => ""],
  ["`null`", () => "null"],
  ["an HTML page", () => page],
  ["a page that asks for a password", () => locked],
  [(form) => `${isJson(form) ? "JSON" : "a file"}: a text that is not valid UTF-8`, (_, feed) => breakEncoding(feed)]
]

const addAdminIds = (feed: string) => feed.replaceAll('"id":', '"admin_graphql_api_id":"gid","id":')
const restApi = JSON.stringify(ids.map((id) => ({ id, name: `Product ${id}`, status: "private", price: newPrice })))

const respondWith =
  (status: number): Respond =>
  (response) =>
    response.writeHead(status).end("no")

const listConnectionFaults = (form: Form): ReadonlyArray<Omit<StoreFault, "form">> => [
  { fault: "HTTP 403", respond: respondWith(403) },
  { fault: "HTTP 404", respond: respondWith(404) },
  { fault: "HTTP 429", respond: respondWith(429) },
  { fault: "HTTP 500", respond: respondWith(500) },
  { fault: "no response", respond: () => undefined },
  {
    fault: "a connection that breaks in the middle",
    respond: (response, feed) => {
      response.writeHead(200, { "content-length": feed.length })
      response.write(feed.slice(0, feed.length >> 1), () => response.destroy())
    }
  },
  { fault: "a certificate that is not trusted", isDistrusted: true },
  { fault: "a robots.txt that forbids", robots: `User-agent: *\nDisallow: ${pathOf[form]}` }
]

/** Faults, in the order of the table. `random` decides where feeds are cut off. */
export const storeFaults = (random: () => number): ReadonlyArray<StoreFault> => [
  ...feedFaults.flatMap(([name, change]) =>
    forms.map((form) => {
      const fault = typeof name === "string" ? name : name(form)
      return { fault, form, feed: change(form, feedOf(form, newPrice)) }
    })
  ),
  ...forms.flatMap((form) => Array.from({ length: 10 }, () => cutAtRandom(form, random))),
  ...forms.filter(isTable).flatMap((form) => [...cutAtEnd(form), ...cutAfterLines(form)]),
  ...(["shopify", "csv"] as const).map((form) => {
    return { fault: "prices that vanish with their variants", form, feed: removeVariants(form, feedOf(form, newPrice)) }
  }),
  { fault: "a response of Shopify's Admin API", form: "shopify", feed: addAdminIds(feedOf("shopify", newPrice)) },
  { fault: "the address of Shopify's Admin API", form: "shopify", path: "/admin/api/2026-10/products.json" },
  { fault: "a response of WooCommerce's wc/v3", form: "woocommerce", feed: restApi },
  { fault: "the address of WooCommerce's wc/v3", form: "woocommerce", path: "/wp-json/wc/v3/products" },
  { fault: "prices in another currency", form: "shopify", headers: { "set-cookie": "cart_currency=NOK; path=/" } },
  {
    fault: "prices in another currency",
    form: "woocommerce",
    feed: feedOf("woocommerce", newPrice).replaceAll("EUR", "NOK")
  },
  { fault: "prices in another currency", form: "xml", feed: feedOf("xml", newPrice).replaceAll("EUR", "NOK") },
  ...(["shopify", "tsv"] as const).flatMap((form) => listConnectionFaults(form).map((fault) => ({ ...fault, form })))
]
