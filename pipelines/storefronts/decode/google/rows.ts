/**
 * Converts an item of a Google feed to a variant of the product that `item_group_id` names, or to a product with one
 * variant. Parses its prices, availability, weight and category, the handle in its link, and its pictures. Items of one
 * group may be far apart. Each becomes a row of the whole product, and SQL uses the first of these rows.
 * `condition`, `mpn` and custom labels are omitted.
 */
import { isPlaceholder } from "../../../run/placeholders.ts"
import { pickStatement, readStatement } from "../../normalise/category/taxonomy.ts"
import type { FeedImage, FeedProduct, FeedVariant } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import { googleRoles } from "../field-roles.ts"
import { type FieldType, types } from "../field-types.ts"
import { htmlToLine, htmlToText } from "../html-text.ts"
import { normalizeText } from "../texts.ts"
import { Fields } from "../typed-fields.ts"
import { parseGrams } from "../weights.ts"
import { type FieldName, fieldNames } from "./field-names.ts"
import type { FieldValues } from "./fields.ts"
import type { FeedItem } from "./item.ts"
import { readPrices } from "./prices.ts"

/** Reserved for each item, so that no two items of a product share a position. Google accepts 11 pictures per item. */
const imagePositionsPerItem = 100

/** Words in use before and after Google introduced underscores, those of schema.org, and those of shop systems. */
const availableWords = new Set(
  (
    "instock preorder backorder backordered onbackorder availablefororder limitedavailability limitedstock lowstock " +
    "fewleft presale instoreonly onlineonly instockonline madetoorder available yes true 1"
  ).split(" ")
)
const unavailableWords = new Set(
  "outofstock temporarilyoutofstock soldout comingsoon discontinued reserved unavailable notavailable no false 0".split(
    " "
  )
)
const availability: FieldType<boolean> = {
  name: "an availability",
  read: (value) => {
    const text = String(value).toLowerCase()
    const letters = text.replace(/^\s*(?:https?:\/\/)?(?:www\.)?schema\.org\//, "").replace(/[^\p{L}]/gu, "")
    const word = letters === "" ? text.trim() : letters // `1` and `0`, but also `In stock (12)`
    if (availableWords.has(word)) return true
    return unavailableWords.has(word) ? false : undefined
  }
}
const weight: FieldType<number> = {
  name: "a weight",
  read: (value) => parseGrams(String(value))
}

/**
 * `/products/bronze-ace?x=1` → `bronze-ace`, `/product?slug=bronze-ace` → `bronze-ace`. Another page for all products,
 * such as `product.html?id=1`, has no handle.
 */
const parseHandle = (link: string | null): string | null => {
  if (link === null || !URL.canParse(link)) return null
  const { pathname, search, searchParams } = new URL(link)
  const named = search === "" ? null : (searchParams.get("slug") ?? searchParams.get("handle"))
  if (named !== null && named.trim() !== "") return normalizeText(named)
  const last = pathname.split("/").findLast((part) => part !== "") ?? ""
  const isScript = /\.(?:html?|php|aspx?|jsp)$/i.test(last)
  if (isScript && search !== "") return null
  const name = last.replace(/\.(?:html?|php|aspx?|jsp)$/i, "")
  try {
    return normalizeText(decodeURIComponent(name))
  } catch {
    return normalizeText(name) // bytes that are not UTF-8 stay as they are
  }
}

const normalizePath = (categoryPath: string | undefined): string | null =>
  normalizeText(
    htmlToLine(categoryPath)
      ?.split(">")
      .map(normalizeText)
      .filter((part) => part !== null)
      .join(" > ")
  )

/** Some feeds put a Google category in `category`, which is not a field of Google's specification. */
const readCategory = (fields: FieldValues): string | null => {
  const googlePaths = fields("google_product_category").map(normalizePath)
  const otherPaths = fields("category")
    .map(normalizePath)
    .filter((path) => path !== null && readStatement(path) !== undefined)
  return pickStatement([...googlePaths, ...otherPaths])
}

/** The addresses of the item's pictures. The first one of `image_link` is the main picture. */
const readPictures = (fields: FieldValues, typed: Fields<FieldName>) => {
  const read = (name: "image_link" | "additional_image_link", links: ReadonlyArray<string>) =>
    links.flatMap((link) => typed.readAddresses(name, link))
  const main = read("image_link", fields("image_link").slice(0, 1))
  const others = read("additional_image_link", fields("additional_image_link"))
  return { main: main[0] ?? null, addresses: [...main, ...others] }
}

const placeImages = (
  addresses: ReadonlyArray<string>,
  product_native_id: string,
  source_row: number
): ReadonlyArray<FeedImage> => {
  const unique = [...new Set(addresses)].slice(0, imagePositionsPerItem)
  const from = (source_row - 1) * imagePositionsPerItem + 1
  return unique.map((src, index) => ({
    product_native_id,
    position: from + index,
    src,
    width: null,
    height: null,
    source_row
  }))
}

export const readItem = ({ fields, ...item }: FeedItem) => {
  const { identify, position, stats } = item
  const typed = new Fields(stats, googleRoles)
  // as an id, a placeholder would combine all items with it into one product; as a group, all items without one
  const id = typed.read("id", fields("id")[0], types.key)
  if (id === null) throw new UnusableRow("it has no id")
  const group = typed.read(
    "item_group_id",
    fields("item_group_id").find((value) => !isPlaceholder(value)),
    types.key
  )
  const native_id = group ?? id
  identify(native_id)
  for (const name of fieldNames) if (fields(name).length > 0) stats.recordField(name)
  const title = typed.read("title", fields("title")[0], types.line)
  if (title === null) throw new UnusableRow("it has no title")
  const [option1, option2] =
    group === null
      ? [null, null]
      : [typed.read("size", fields("size")[0], types.text), typed.read("color", fields("color")[0], types.text)]
  const { addresses, main } = readPictures(fields, typed)
  const product: FeedProduct = {
    native_id,
    title,
    handle: parseHandle(typed.read("link", fields("link")[0], types.address)),
    vendor: typed.read("brand", fields("brand")[0], types.line),
    // of several product types, Google uses the first
    product_type: normalizePath(fields("product_type")[0] ?? fields("category")[0]),
    stated_category: readCategory(fields),
    tags: [],
    body_text: htmlToText(fields("description")[0] ?? fields("summary")[0] ?? fields("content")[0]),
    published_at: null,
    created_at: null,
    is_published: true
  }
  const variant: FeedVariant = {
    product_native_id: native_id,
    native_id: id,
    title: [option1, option2].filter((option) => option !== null).join(" / ") || title,
    sku: null,
    barcode: typed.read("gtin", fields("gtin")[0], types.barcode),
    ...readPrices(fields, typed, item),
    grams: typed.read("shipping_weight", fields("shipping_weight").map(normalizeText)[0], weight),
    available: typed.read("availability", fields("availability").map(normalizeText)[0], availability),
    option1,
    option2,
    option3: null,
    position,
    image_src: main,
    requires_shipping: null
  }
  return { product, variants: [variant], images: placeImages(addresses, native_id, position) }
}
