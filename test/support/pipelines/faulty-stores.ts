/**
 * Stores with each feed format, and the faults of their feeds. Each store has one fault, and one run reads stores with
 * all faults. A store lists four products, whose price differs between the first and the second read.
 */
import type { ServerResponse } from "node:http"
import type { ListedStore } from "@larder/pipelines/storefronts/source/store-list.ts"

export const formats = ["shopify", "woocommerce", "csv", "tsv", "xml"] as const
export type Format = (typeof formats)[number]

export const kindOf: Readonly<Record<Format, ListedStore["kind"]>> = {
  shopify: "shopify",
  woocommerce: "woocommerce",
  csv: "shopify-csv",
  tsv: "google-merchant",
  xml: "google-merchant"
}

export const oldPrice = "9.50"
export const newPrice = "9.75"
/** Above all prices. */
const usualPrice = "50.00"
const ids = [1, 2, 3, 4]

const formatTable = (separator: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  `${rows.map((row) => row.join(separator)).join("\n")}\n`

const formatFeed: Readonly<Record<Format, (price: string) => string>> = {
  shopify: (price) =>
    JSON.stringify({
      products: ids.map((id) => ({
        id,
        title: `Product ${id}`,
        vendor: "Maker",
        body_html: "A text.",
        variants: [
          { id: id * 10, title: "Default Title", price, compare_at_price: usualPrice, sku: `S-${id}`, available: true }
        ]
      }))
    }),
  woocommerce: (price) =>
    JSON.stringify(
      ids.map((id) => ({
        id,
        name: `Product ${id}`,
        brands: [{ name: "Maker" }],
        description: "A text.",
        prices: {
          price: price.replace(".", ""),
          regular_price: usualPrice.replace(".", ""),
          currency_code: "EUR",
          currency_minor_unit: 2
        }
      }))
    ),
  csv: (price) =>
    formatTable(",", [
      ["Handle", "Title", "Vendor", "Variant Price", "Variant SKU", "Variant Compare At Price"],
      ...ids.map((id) => [`p-${id}`, `Product ${id}`, "Maker", price, `S-${id}`, usualPrice])
    ]),
  tsv: (price) =>
    formatTable("\t", [
      ["id", "title", "brand", "price", "item_group_id", "link"],
      ...ids.map((id) => [`${id}`, `Product ${id}`, "Maker", `${price} EUR`, `g${id}`, `https://shop.test/${id}`])
    ]),
  xml: (price) =>
    `<?xml version="1.0"?>\n<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel>\n${ids
      .map(
        (id) =>
          `<item><g:id>${id}</g:id><g:title>Product ${id}</g:title><g:brand>Maker</g:brand><g:price>${price} EUR</g:price><g:item_group_id>g${id}</g:item_group_id></item>`
      )
      .join("\n")}\n</channel></rss>\n`
}

/** The feed of a store without a fault: its list of products. */
export const feedOf = (format: Format, price: string) => formatFeed[format](price)

/** The path of a store's list of products. */
export const pathOf: Readonly<Record<Format, string>> = {
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
  readonly format: Format
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

const isJson = (format: Format) => format === "shopify" || format === "woocommerce"
const isTable = (format: Format) => format === "csv" || format === "tsv"
const familyOf = (format: Format) => {
  if (isJson(format)) return "JSON"
  return isTable(format) ? "CSV and TSV" : "XML"
}

/** The names of a field that each row needs, of one that only some rows need, and of an optional one. */
const requiredFields: Readonly<Record<Format, string>> = {
  shopify: "price",
  woocommerce: "prices",
  csv: "Variant Price",
  tsv: "price",
  xml: "price"
}
const neededFields: Readonly<Record<Format, string>> = {
  shopify: "compare_at_price",
  woocommerce: "regular_price",
  csv: "Variant Compare At Price",
  tsv: "item_group_id",
  xml: "item_group_id"
}
const optionalFields: Readonly<Record<Format, string>> = {
  shopify: "vendor",
  woocommerce: "brands",
  csv: "Vendor",
  tsv: "brand",
  xml: "brand"
}

const renameField = (format: Format, feed: string, field: string) => {
  if (isJson(format)) return feed.replaceAll(`"${field}":`, `"new_${field}":`)
  if (format === "xml") return feed.replaceAll(`g:${field}>`, `g:new_${field}>`)
  return feed.replace(field, `New ${field}`)
}

const removeField = (format: Format, feed: string, field: string) => {
  if (isJson(format)) {
    return JSON.stringify(JSON.parse(feed, (key, value: unknown) => (key === field ? undefined : value)))
  }
  if (format === "xml") return feed.replaceAll(new RegExp(`<g:${field}>.*?</g:${field}>`, "g"), "")
  const separator = format === "csv" ? "," : "\t"
  const rows = feed.split("\n").map((line) => line.split(separator))
  const place = rows[0]?.indexOf(field)
  return rows.map((cells) => cells.filter((_, index) => index !== place).join(separator)).join("\n")
}

const addField = (format: Format, feed: string) => {
  if (isJson(format)) return feed.replaceAll('"id":', '"new":1,"id":')
  if (format === "xml") return feed.replaceAll("</item>", "<g:new>1</g:new></item>")
  const separator = format === "csv" ? "," : "\t"
  return feed.replaceAll(/(?<=.)\n/g, `${separator}New\n`)
}

/** Prices in another format: those of the first products. */
const retypePrices = (format: Format, feed: string, products: number) => {
  const [from, to] = {
    shopify: [`"price":"${newPrice}"`, `"price":{"amount":"${newPrice}"}`],
    woocommerce: [`"price":"${newPrice.replace(".", "")}"`, '"price":"ask us"'],
    csv: [newPrice, "ask us"],
    tsv: [`${newPrice} EUR`, "ask us"],
    xml: [`${newPrice} EUR`, "ask us"]
  }[format] as [string, string]
  return ids.slice(0, products).reduce((changed) => changed.replace(from, to), feed)
}

const removePrices = (format: Format, feed: string) => {
  if (format === "shopify") return feed.replaceAll(`"price":"${newPrice}"`, '"price":null')
  if (format === "woocommerce") return feed.replaceAll(`"price":"${newPrice.replace(".", "")}"`, '"price":""')
  return feed.replaceAll(new RegExp(`(?<!Product 1.{0,90})${newPrice}( EUR)?`, "g"), "") // then the field is missing
}

/** All rows except the first lose their price, and all other fields of their variant. */
const removeVariants = (format: "shopify" | "csv", feed = feedOf(format, newPrice)) => {
  if (format === "csv") return feed.replaceAll(new RegExp(`${newPrice},S-[2-4],${usualPrice}`, "g"), ",,")
  const { products }: { readonly products: ReadonlyArray<object> } = JSON.parse(feed)
  return JSON.stringify({ products: products.map((product, n) => (n === 0 ? product : { ...product, variants: [] })) })
}

const zeroPrices = (format: Format, feed: string) =>
  format === "woocommerce" ? feed.replaceAll(newPrice.replace(".", ""), "0") : feed.replaceAll(newPrice, "0.00")

/** The products of another store. */
const changeIds = (_: Format, feed: string) =>
  feed
    .replaceAll(/"id":(\d+)/g, '"id":9$1')
    .replaceAll(/\bp-(\d)/g, "q-$1")
    .replaceAll(/\bg(\d)/g, "h$1")

const emptyList: Readonly<Record<Format, (feed: string) => string>> = {
  shopify: () => '{"products":[]}',
  woocommerce: () => "[]",
  csv: (feed) => `${feed.split("\n")[0]}\n`,
  tsv: (feed) => `${feed.split("\n")[0]}\n`,
  xml: (feed) => feed.replaceAll(/<item>.*<\/item>\n/g, "")
}

const page = "<!DOCTYPE html><html><head><title>Welcome</title></head></html>"
const locked = '<!DOCTYPE html><title>Opening soon</title><form method="post" action="/password"></form>'

const truncatedAnywhere = "truncated at any byte"
const truncatedAtLine = "CSV and TSV: truncated at the end of a line"
const noProducts = (format: Format) => `${format === "shopify" ? "Shopify: " : ""}a list without products`

/** The end of the feed's head. A feed that is truncated within its head is not a feed. */
const headOf = (format: Format, feed: string) =>
  isJson(format) ? 1 : feed.indexOf(isTable(format) ? "\n" : "<item>") + 1

/** The feed truncated at a random byte. A table that is truncated after a line looks complete. */
const truncateAtRandom = (format: Format, random: () => number): StoreFault => {
  const bytes = Buffer.from(feedOf(format, newPrice).trimEnd())
  const head = headOf(format, bytes.toString())
  const feed = bytes.subarray(0, head + Math.floor(random() * (bytes.length - head)))
  if (!isTable(format) || feed.at(-1) !== 0x0a) return { fault: truncatedAnywhere, format, feed }
  return { fault: feed.length === head ? noProducts(format) : truncatedAtLine, format, feed }
}

/** A CSV that is truncated in its only row, after the point of its last price. */
export const cutInPrice = feedOf("csv", newPrice).split("\n").slice(0, 2).join("\n").slice(0, -"00".length)

/** A table that is truncated in its last line: within the last cell, and right before the end. */
const truncateAtEnd = (format: Format): ReadonlyArray<StoreFault> =>
  [1, 2].map((bytes) => ({ fault: truncatedAnywhere, format, feed: feedOf(format, newPrice).slice(0, -bytes) }))

/** A table that is truncated after a line: without the last product, and with the first product only. */
const truncateAfterLines = (format: Format): ReadonlyArray<StoreFault> => {
  const lines = feedOf(format, newPrice).split("\n")
  return [2, 4].map((kept) => ({ fault: truncatedAtLine, format, feed: `${lines.slice(0, kept).join("\n")}\n` }))
}

const breakEncoding = (_: Format, feed: string) => Buffer.from(feed.replace("Product 1", "Product \xe9 1"), "latin1")

/** The faulty feeds of all formats, by the fault's name in the table, which may depend on the format. */
const feedFaults: ReadonlyArray<
  readonly [string | ((format: Format) => string), (format: Format, feed: string) => string | Buffer]
> = [
  [
    (format) => `${familyOf(format)}: a needed field renamed`,
    (format, feed) => renameField(format, feed, requiredFields[format])
  ],
  [
    (format) => `${familyOf(format)}: a needed field missing`,
    (format, feed) => removeField(format, feed, requiredFields[format])
  ],
  ["a needed field with some empty values, renamed", (format, feed) => renameField(format, feed, neededFields[format])],
  ["a needed field with some empty values, missing", (format, feed) => removeField(format, feed, neededFields[format])],
  ["an optional field renamed", (format, feed) => renameField(format, feed, optionalFields[format])],
  ["an optional field missing", (format, feed) => removeField(format, feed, optionalFields[format])],
  ["a field added", addField],
  ["all prices of another type", (format, feed) => retypePrices(format, feed, ids.length)],
  ["one price of another type", (format, feed) => retypePrices(format, feed, 1)],
  ["two of four prices of another type", (format, feed) => retypePrices(format, feed, 2)],
  ["prices that vanish", removePrices],
  ["prices that become 0", zeroPrices],
  ["the feed of another store", changeIds],
  [noProducts, (format, feed) => emptyList[format](feed)],
  ["an empty response", () => ""],
  ["`null`", () => "null"],
  ["an HTML page", () => page],
  ["a page that asks for a password", () => locked],
  [(format) => `${isJson(format) ? "JSON" : "a file"}: a text that is not valid UTF-8`, breakEncoding]
]

const addAdminIds = (feed: string) => feed.replaceAll('"id":', '"admin_graphql_api_id":"gid","id":')
const restApi = JSON.stringify(ids.map((id) => ({ id, name: `Product ${id}`, status: "private", price: newPrice })))

const respondWith =
  (status: number): Respond =>
  (response) =>
    response.writeHead(status).end("no")

const listServerFaults = (format: Format): ReadonlyArray<Omit<StoreFault, "format">> => [
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
  { fault: "a robots.txt that forbids", robots: `User-agent: *\nDisallow: ${pathOf[format]}` }
]

/** Faults, in the order of the table. `random` determines where feeds are truncated. */
export const storeFaults = (random: () => number): ReadonlyArray<StoreFault> => [
  ...feedFaults.flatMap(([name, change]) =>
    formats.map((format) => {
      const fault = typeof name === "string" ? name : name(format)
      return { fault, format, feed: change(format, feedOf(format, newPrice)) }
    })
  ),
  ...formats.flatMap((format) => Array.from({ length: 10 }, () => truncateAtRandom(format, random))),
  ...formats.filter(isTable).flatMap((format) => [...truncateAtEnd(format), ...truncateAfterLines(format)]),
  ...(["shopify", "csv"] as const).map((format) => {
    return { fault: "prices that vanish with their variants", format, feed: removeVariants(format) }
  }),
  { fault: "a response of Shopify's Admin API", format: "shopify", feed: addAdminIds(feedOf("shopify", newPrice)) },
  { fault: "the address of Shopify's Admin API", format: "shopify", path: "/admin/api/2026-10/products.json" },
  { fault: "a response of WooCommerce's wc/v3", format: "woocommerce", feed: restApi },
  { fault: "the address of WooCommerce's wc/v3", format: "woocommerce", path: "/wp-json/wc/v3/products" },
  { fault: "prices in another currency", format: "shopify", headers: { "set-cookie": "cart_currency=NOK; path=/" } },
  {
    fault: "prices in another currency",
    format: "woocommerce",
    feed: feedOf("woocommerce", newPrice).replaceAll("EUR", "NOK")
  },
  { fault: "prices in another currency", format: "xml", feed: feedOf("xml", newPrice).replaceAll("EUR", "NOK") },
  ...(["shopify", "tsv"] as const).flatMap((format) => listServerFaults(format).map((fault) => ({ ...fault, format })))
]
