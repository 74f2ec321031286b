/**
 * A store as a Google Merchant feed in RSS, as irregular as real ones: titles with and without a prefix, unescaped `&` in
 * some addresses, CDATA, comments, shipping with its own price, duplicate ids. Most products are one item; a few are
 * groups with an item for each variant.
 */
import { hashNumbers } from "../branded-foods/chance.ts"
import { makeProducts, type Product } from "./product.ts"
import { formatMoney, getBaseUrl, market, type Store } from "./store.ts"
import type { Variant } from "./variants.ts"
import { Tally, type Written } from "./written.ts"

const indent = "  "

const escapeText = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
const formatCdata = (text: string) => `<![CDATA[${text}]]>`

const isGrouped = (store: Store, { index, variants }: Product) =>
  variants.length > 1 && hashNumbers(store.seed, 61, index) % 4 === 0

const isDuplicate = (store: Store, { index }: Product) => index === 12 || hashNumbers(store.seed, 62, index) % 200 === 0

/** Gift cards and fees are not in shopping feeds. */
const isOffered = ({ ships }: Product) => ships

const formatAvailability = (available: boolean, style: number) => {
  if (!available) return style < 5 ? "out of stock" : "out_of_stock"
  if (style === 0) return "preorder"
  return style < 6 ? "in_stock" : "in stock"
}

const formatAmount = (cents: number, style: number) =>
  `${cents % 100 === 0 && style < 4 ? cents / 100 : formatMoney(cents)} ${market.currency}`

const makePriceLines = ({ cents, compare }: Variant, style: number) => {
  const price = formatAmount(cents, style)
  if (compare === null || compare < cents) return [`<g:price>${price}</g:price>`]
  // An equal sale price is not a reduction.
  return [
    `<g:price>${formatAmount(compare, style)}</g:price>`,
    `<g:sale_price>${price}</g:sale_price>`,
    ...(style < 5
      ? ["<g:sale_price_effective_date>2021-01-01T00:00+00:00 / 2098-12-31T23:59+00:00</g:sale_price_effective_date>"]
      : [])
  ]
}

const makeCategoryLines = ({ category, type }: Product, style: number) => {
  const [top = ""] = category.path.split(" > ")
  const stated =
    [`${category.id}`, escapeText(category.path), formatCdata(category.path), escapeText(top)][style % 4] ?? ""
  return [
    ...(style < 2 ? [] : [`<g:google_product_category>${stated}</g:google_product_category>`]),
    ...(type === "" ? [] : [`<g:product_type>${escapeText(style < 6 ? type : `Shop > ${type}`)}</g:product_type>`])
  ]
}

const makeTitleLines = (title: string, style: number) => {
  if (style === 0) return [`<title>${escapeText(title)}</title>`]
  if (style === 1)
    return [`<title>${escapeText(title.toUpperCase())}</title>`, `<g:title>${escapeText(title)}</g:title>`]
  return [`<g:title>${style < 5 ? formatCdata(title) : escapeText(title)}</g:title>`]
}

const makeDescriptionLine = ({ body }: Product, style: number) =>
  `<g:description>${style < 4 ? formatCdata(body) : escapeText(body)}</g:description>`

/** `&` is unescaped in every other feed address with two parameters. */
const makeLink = (store: Store, { handle }: Product, { id }: Variant, style: number, isRepeated: boolean) => {
  const address = `${getBaseUrl(store)}/products/${encodeURIComponent(handle)}?variant=${id}`
  const tracked = `${address}${style % 2 === 0 ? "&" : "&amp;"}utm_source=${isRepeated ? "feed2" : "feed"}`
  return style < 6 ? tracked : address
}

const makeChoiceLines = (product: Product, { values }: Variant) =>
  product.options.flatMap(({ name }, i) => {
    const value = escapeText(values[i] ?? "")
    if (name === "Size" || name === "Weight") return [`<g:size>${value}</g:size>`]
    return name === "Colour" ? [`<g:color>${value}</g:color>`] : [`<g:pattern>${value}</g:pattern>`]
  })

/** Pictures of an item, the one of its variant first. */
const makePictures = ({ pictures }: Product, { picture }: Variant) => {
  const first = picture === null ? undefined : pictures[picture]
  const sources = [...(first ? [first] : []), ...pictures.filter((other) => other !== first)].map(({ src }) => src)
  return sources.map((src, i) =>
    i === 0 ? `<g:image_link>${src}</g:image_link>` : `<g:additional_image_link>${src}</g:additional_image_link>`
  )
}

const makeShippingLines = (style: number) =>
  style < 7
    ? [
        "<g:shipping>",
        `${indent}<g:country>${market.country}</g:country>`,
        `${indent}<g:service>Standard</g:service>`,
        `${indent}<g:price>${style < 3 ? "0.00" : "4.90"} ${market.currency}</g:price>`,
        "</g:shipping>"
      ]
    : []

const makeId = (store: Store, product: Product, place: number) =>
  `${store.name.slice(0, 2).toUpperCase()}-${product.index + 1001}${isGrouped(store, product) ? `-${place + 1}` : ""}`

const formatItem = (store: Store, product: Product, place: number, isRepeated: boolean) => {
  const variant = product.variants[place]
  if (!variant) return ""
  const style = hashNumbers(store.seed, 63, product.index) % 10
  const grouped = isGrouped(store, product)
  const lines = [
    `<g:id>${makeId(store, product, place)}</g:id>`,
    ...(grouped ? [`<g:item_group_id>G-${product.index + 1001}</g:item_group_id>`] : []),
    ...makeTitleLines(grouped ? `${product.title} - ${variant.values.join(", ")}` : product.title, style),
    makeDescriptionLine(product, style),
    `<g:link>${makeLink(store, product, variant, style, isRepeated)}</g:link>`,
    ...makePictures(product, variant),
    ...(style === 3 ? ["<!-- checked <by hand> & approved -->"] : []),
    `<g:availability>${formatAvailability(variant.available, style)}</g:availability>`,
    ...makeShippingLines(style),
    ...makePriceLines(variant, style),
    "<g:condition>new</g:condition>",
    `<g:brand>${style === 9 ? "" : escapeText(product.vendor)}</g:brand>`,
    ...(variant.barcode === "" || style < 4
      ? ["<g:identifier_exists>no</g:identifier_exists>"]
      : [`<g:gtin>${variant.barcode}</g:gtin>`]),
    ...(variant.sku ? [`<g:mpn>${escapeText(variant.sku)}</g:mpn>`] : []),
    ...makeCategoryLines(product, style),
    ...(variant.grams > 0 ? [`<g:shipping_weight>${variant.grams} g</g:shipping_weight>`] : []),
    ...(grouped ? makeChoiceLines(product, variant) : [])
  ]
  const inner = lines.map((line) => `${indent}${indent}${indent}${line}\n`).join("")
  return `${indent}${indent}<item>\n${inner}${indent}${indent}</item>\n`
}

/** Pieces of the file, newest product first. */
export const makeGoogleFeed = function* (store: Store): Generator<string> {
  yield [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- Products of ${store.domain} -->`,
    `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0">`,
    `${indent}<channel>`,
    `${indent}${indent}<title>${escapeText(store.name)}</title>`,
    `${indent}${indent}<link>${getBaseUrl(store)}</link>`,
    `${indent}${indent}<description>What ${escapeText(store.name)} sells, &amp; what it costs</description>`,
    ""
  ].join("\n")
  for (const product of makeProducts(store)) {
    if (!isOffered(product)) continue
    const places = isGrouped(store, product) ? product.variants.map((_, place) => place) : [0]
    const items = places.map((place) => formatItem(store, product, place, false)).join("")
    yield isDuplicate(store, product) ? items + formatItem(store, product, 0, true) : items
  }
  yield `${indent}</channel>\n</rss>\n`
}

/** Items with the same id count once. Items of a group are variants of one product. */
export const countGoogle = (store: Store): Written => {
  const tally = new Tally()
  for (const product of makeProducts(store)) {
    if (!isOffered(product)) continue
    const variants = isGrouped(store, product) ? product.variants : product.variants.slice(0, 1)
    const duplicates = isDuplicate(store, product) ? 1 : 0
    tally.rows += variants.length + duplicates
    tally.duplicates += duplicates
    tally.products += 1
    tally.images += product.pictures.length
    for (const { available, cents, compare } of variants) tally.addVariant(cents, compare, available)
  }
  return tally.written
}
