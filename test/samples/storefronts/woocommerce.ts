/**
 * A store as the pages of WooCommerce's Store API, `/wp-json/wc/store/v1/products?per_page=100&page=N`: names with entities,
 * percent-encoded slugs, prices in minor units, variations without prices.
 */
import { type Product, productsOf } from "./product.ts"
import { fullName, moneyText, type Store } from "./store.ts"
import { Tally, type Written } from "./written.ts"

export const wooPageLimit = 100

const named = (text: string) => text.replaceAll("&", "&amp;").replaceAll("–", "&#8211;").replaceAll("’", "&#8217;")
const slugOf = (text: string) => encodeURIComponent(text).toLowerCase()

/** WooCommerce escapes `/` and all that is not ASCII. */
const onTheWire = (value: unknown) =>
  JSON.stringify(value)
    .replaceAll("/", "\\/")
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const pricesOf = (store: Store, { variants }: Product) => {
  const [first] = variants
  if (!first) throw new Error("A product without a variant")
  const all = variants.map(({ cents }) => cents)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const regular = first.compare !== null && first.compare > first.cents ? first.compare : first.cents
  return {
    price: `${first.cents}`,
    regular_price: `${regular}`,
    sale_price: `${first.cents}`,
    price_range: least === most ? null : { min_amount: `${least}`, max_amount: `${most}` },
    currency_code: store.currency,
    currency_symbol: store.currency,
    currency_minor_unit: 2,
    currency_decimal_separator: ".",
    currency_thousand_separator: ",",
    currency_prefix: "",
    currency_suffix: ` ${store.currency}`
  }
}

const imagesOf = ({ pictures, title }: Product) =>
  pictures.map(({ id, src }) => ({
    id: id % 1_000_000_000,
    src,
    thumbnail: src.replace(".jpg", "-300x300.jpg"),
    srcset: "",
    sizes: "(max-width: 600px) 100vw, 600px",
    name: title,
    alt: ""
  }))

const termOf = (store: Store, kind: string, name: string, id: number) => ({
  id,
  name: named(name),
  slug: slugOf(name),
  link: `${fullName(store)}/${kind}/${slugOf(name)}/`
})

const productJson = (store: Store, product: Product) => {
  const { body, handle, id, index, options, shelf, tags, title, variants, vendor } = product
  const [first] = variants
  return {
    id: (id % 1_000_000_000) + 10_000,
    name: named(title),
    slug: slugOf(handle),
    parent: 0,
    type: variants.length > 1 ? "variable" : "simple",
    variation: "",
    permalink: `${fullName(store)}/product/${slugOf(handle)}/`,
    sku: first?.sku ?? "",
    short_description: "",
    description: body,
    on_sale: (first?.compare ?? 0) > (first?.cents ?? 0),
    prices: pricesOf(store, product),
    price_html: `<span class="amount"><bdi>${moneyText(first?.cents ?? 0)}&nbsp;${store.currency}</bdi></span>`,
    average_rating: "0",
    review_count: 0,
    images: imagesOf(product),
    categories: product.type === "" ? [] : [termOf(store, "product-category", shelf, 100 + shelf.length)],
    tags: tags.map((tag, i) => termOf(store, "product-tag", tag, 300 + i)),
    brands: [termOf(store, "brand", vendor, 500 + (index % 7))],
    attributes: options.map(({ name, values }, i) => ({
      id: i,
      name,
      taxonomy: null,
      has_variations: true,
      terms: values.map((value, place) => ({ id: place, name: named(value), slug: slugOf(value), default: false }))
    })),
    variations: variants.slice(0, variants.length > 1 ? variants.length : 0).map(({ id, values }) => ({
      id: id % 1_000_000_000,
      attributes: options.map(({ name }, i) => ({ name, value: slugOf(values[i] ?? "") }))
    })),
    grouped_products: [],
    has_options: variants.length > 1,
    is_purchasable: true,
    is_in_stock: first?.available ?? false,
    is_on_backorder: false,
    low_stock_remaining: null,
    stock_availability: { text: "", class: first?.available ? "in-stock" : "out-of-stock" },
    sold_individually: false,
    weight: first && first.grams > 0 ? `${first.grams / 1000}` : "",
    dimensions: { length: "", width: "", height: "" },
    formatted_weight: first && first.grams > 0 ? `${first.grams / 1000} kg` : "N/A",
    formatted_dimensions: "N/A",
    add_to_cart: {
      text: "Add to cart",
      description: "",
      url: `?add-to-cart=${id}`,
      single_text: "Add",
      minimum: 1,
      maximum: 9999,
      multiple_of: 1
    },
    is_password_protected: false,
    extensions: {},
    _links: {}
  }
}

/** Page 1 is the first; behind the last one, pages are empty. */
export const wooPage = (store: Store, page: number, perPage = wooPageLimit) =>
  onTheWire(Array.from(productsOf(store, (page - 1) * perPage, perPage), (product) => productJson(store, product)))

/** One variant a product: the parent's own price and stock. */
export const writtenWoo = (store: Store): Written => {
  const tally = new Tally()
  for (const { pictures, variants } of productsOf(store)) {
    const [first] = variants
    if (!first) continue
    tally.rows += 1
    tally.products += 1
    tally.images += pictures.length
    tally.variant(first.cents, first.compare, first.available)
  }
  return tally.written
}
