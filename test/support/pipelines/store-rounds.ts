/**
 * Stores on this machine that rarely change. Tests read them in rounds that are days apart by the clock of the test. Of
 * ten stores, six are shops with a weak ETag on every page, two have no validators, and two are one file each: a CSV with
 * an ETag, and a feed with Last-Modified.
 */
import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import { buildResponse, range, type Shop } from "./store-host.ts"
import { type ReceivedRequest, startUpstream } from "./upstream.ts"

const body_html = `<p>${"A text of a product. ".repeat(50)}</p>`
const robots = "User-agent: *\nAllow: /\n"
const products = 20

const kinds = ["shopify", "shopify", "shopify", "woocommerce", "shopify-csv"] as const
const kindOf = (n: number) => (n % 10 === 9 ? "google-merchant" : (kinds[n % 5] ?? "shopify"))

/** One product changes: another one replaces it. */
const idsOf = (version: number) => [...range(1, products - 1), 1000 + version]

const shopOf = (version: number): Shop => ({
  robots,
  body_html,
  pages: [idsOf(version)],
  collections: { fresh: [[1, 2, 3]], stored: [[4, 5]] },
  meta: { id: 7, name: "Shop", country: "NO", currency: "NOK", published_products_count: products }
})

const itemOf = (id: number) =>
  `<item><g:id>${id}</g:id><g:title>Product ${id}</g:title><g:link>https://shop.test/${id}</g:link><g:price>9.50 EUR</g:price>
<g:description>${"A text of a product. ".repeat(50)}</g:description></item>`
const feedOf = (version: number) =>
  `<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel>
${idsOf(version).map(itemOf).join("\n")}
</channel></rss>`
const csvOf = (version: number) =>
  [
    "Handle,Title,Body (HTML),Variant Price",
    ...idsOf(version).map((id) => `p-${id},Product ${id},${body_html},9.50`)
  ].join("\n")

const tagOf = (text: string) => createHash("sha1").update(text).digest("hex")

/** The content of an address, with the headers that validate it. */
const buildContent = (n: number, version: number, url: string) => {
  const { pathname, searchParams } = new URL(url, "http://shop.test")
  const page = Number(searchParams.get("page") ?? 1)
  const kind = kindOf(n)
  if (kind === "google-merchant" && pathname === "/feed") {
    return {
      text: feedOf(version),
      headers: { "last-modified": new Date(Date.UTC(2026, 0, 1 + version)).toUTCString() }
    }
  }
  const text = kind === "shopify-csv" && pathname === "/feed" ? csvOf(version) : textOf(version, pathname, page)
  if (text === undefined) return undefined
  const total = kind === "woocommerce" ? { "x-wp-total": String(products) } : {}
  if (kind === "woocommerce") return { text, headers: total }
  return { text, headers: { etag: kind === "shopify" ? `W/"${tagOf(text)}"` : `"${tagOf(text)}"` } }
}
const textOf = (version: number, pathname: string, page: number) => {
  const content = buildResponse(shopOf(version), pathname, page)
  return content === undefined || typeof content === "string" ? content : JSON.stringify(content)
}

interface Traffic {
  requests: number
  bytes: number
  conditional: number
}

const serve = (
  n: number,
  version: number,
  traffic: Traffic,
  response: ServerResponse,
  { headers, url }: ReceivedRequest
) => {
  traffic.requests += 1
  const content = buildContent(n, version, url)
  if (content === undefined) return void response.writeHead(404).end()
  const validators: Readonly<Record<string, string>> = content.headers
  const isConditional = headers["if-none-match"] !== undefined || headers["if-modified-since"] !== undefined
  if (isConditional) traffic.conditional += 1
  const isSame =
    headers["if-none-match"] === undefined
      ? isConditional && headers["if-modified-since"] === validators["last-modified"]
      : headers["if-none-match"] === validators.etag
  if (isSame) return void response.writeHead(304, validators).end()
  traffic.bytes += Buffer.byteLength(content.text)
  response.writeHead(200, validators).end(content.text)
}

const chanceOf = (day: number, n: number) => createHash("sha1").update(`${day} ${n}`).digest().readUInt32BE(0) / 2 ** 32

/** Two of a hundred stores change every day, and each of the others once in a hundred days. */
const isBusy = (n: number) => n % 50 === 5
const isChanged = (day: number, n: number) => isBusy(n) || chanceOf(day, n) < 0.01

/** Starts `count` stores, until the scope ends. */
export const startStores = Effect.fnUntraced(function* (count: number) {
  const traffic: Traffic = { requests: 0, bytes: 0, conditional: 0 }
  const versions = new Map<number, number>()
  const hosts = yield* Effect.forEach(
    range(0, count - 1),
    (n) =>
      Effect.map(
        startUpstream((response, _, request) => serve(n, versions.get(n) ?? 0, traffic, response, request)),
        ({ url }) => ({ n, url })
      ),
    { concurrency: 50 }
  )
  const list = hosts.map(({ n, url }) => {
    const kind = kindOf(n)
    const location = kind === "shopify" || kind === "woocommerce" ? url : `${url}/feed`
    return { domain: `shop-${n}.example`, name: `Shop ${n}`, kind, location, currency: "EUR" }
  })
  /** Changes the stores that change on this day, and returns their domains. */
  const changeStores = (day: number) => {
    const changed = hosts.filter(({ n }) => isChanged(day, n))
    for (const { n } of changed) versions.set(n, day)
    return changed.map(({ n }) => `shop-${n}.example`)
  }
  /** The traffic of all stores since the last call. */
  const takeTraffic = (): Readonly<Traffic> => {
    const seen = { ...traffic }
    Object.assign(traffic, { requests: 0, bytes: 0, conditional: 0 })
    return seen
  }
  /** The sorted titles of the products that each store lists now. */
  const listTitles = () =>
    new Map(
      hosts.map(({ n }) => [
        `shop-${n}.example`,
        idsOf(versions.get(n) ?? 0)
          .map((id) => `Product ${id}`)
          .sort()
      ])
    )
  return { list, changeStores, takeTraffic, listTitles }
})
