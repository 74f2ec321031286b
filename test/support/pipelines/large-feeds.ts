/** Store feeds of any size, and the memory that reading them may take: tests choose the megabytes. */
import { assert } from "@effect/vitest"
import { readShopifyCsv } from "@larder/pipelines/storefronts/decode/csv/shopify-csv.ts"
import { readGoogleMerchant } from "@larder/pipelines/storefronts/decode/google/google-merchant.ts"
import { manyRows, readMeasured } from "./file-feeds.ts"

/** An item of a feed for Google, changed field by field; null leaves a field out. */
export const anItem = (changes: Readonly<Record<string, string | null>> = {}) => {
  const fields = {
    "g:id": "L-1",
    "g:title": "Lentils & Co",
    "g:description": "&lt;p&gt;Red &amp;amp; green&lt;/p&gt;",
    "g:link": "https://shop.example/products/red-lentils?x=1&y=2",
    "g:image_link": "https://cdn.example/1.jpg",
    "g:additional_image_link": "https://cdn.example/2.jpg",
    "g:availability": "in stock",
    "g:price": "3.50 CHF",
    "g:brand": "Pulse",
    "g:gtin": "4000000000017",
    "g:condition": "new",
    "g:google_product_category": "Food, Beverages &amp; Tobacco &gt; Food Items",
    "g:product_type": "Pantry &gt; Pulses",
    "g:shipping_weight": "0.5 kg",
    "g:shipping": "<g:country>CH</g:country><g:price>0.00 CHF</g:price>",
    "g:size": "500 g",
    "g:color": "red",
    ...changes
  }
  const written = Object.entries(fields).map(([name, text]) => (text === null ? "" : `  <${name}>${text}</${name}>`))
  return `<item>\n${written.join("\n")}\n</item>`
}

export const googleRow = (number: number) =>
  anItem({ "g:id": String(number), "g:description": `${number} <![CDATA[5 < 10 ${"words ".repeat(700)}]]>` })

export const csvHeader = "Handle,Title,Body (HTML),Variant Price,Option1 Value,Image Src\n"
export const csvRow = (number: number) =>
  `h${number % 7 === 0 ? number - 1 : number},Oats ${number},"One\n""two"" ${"three ".repeat(400)}",${number}.50,,https://x.example/${number}.jpg\n`

const feeds = {
  "google-merchant": {
    read: readGoogleMerchant,
    bytes: (megabytes: number) => manyRows(megabytes, "<rss><channel>", googleRow, "</channel></rss>"),
    rowsPerMegabyte: 150
  },
  "shopify-csv": {
    read: readShopifyCsv,
    bytes: (megabytes: number) => manyRows(megabytes, csvHeader, csvRow, ""),
    rowsPerMegabyte: 350
  }
}

/** Megabytes that the heap may grow by while a feed of any size is read. */
const maxGrowth = 15

export const expectConstantMemory = async (kind: keyof typeof feeds, megabytes: number) => {
  const { bytes, read, rowsPerMegabyte } = feeds[kind]
  assert.isAbove(megabytes, maxGrowth * 1.5, "the feed must be larger than the limit")
  await readMeasured(read(() => bytes(1), { currency: null })) // loads the taxonomy, which is not part of the feed
  const { growth, rows } = await readMeasured(read(() => bytes(megabytes), { currency: null }))
  assert.isAbove(rows, megabytes * rowsPerMegabyte)
  assert.isBelow(growth, maxGrowth)
}
