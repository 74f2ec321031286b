/**
 * Recordings of real stores as one folder to replay, with counts that are independent of the pipeline: CSV is read character
 * by character, XML with regular expressions.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import { samplesOf } from "../support/shared-samples.ts"
import { parseCsv } from "./plain-csv.ts"
import { type Files, type Listed, shopifyPages } from "./storefronts.ts"

export const samples = samplesOf("storefront")
const sample = (name: string) => readFileSync(path.join(samples, name), "utf8")

/** Amounts are summed in ten-thousandths, so that nothing is rounded. */
export interface Counts {
  readonly products: number
  readonly variants: number
  readonly images: number
  readonly prices: number
  readonly former_prices: number
  /** Values of options. */
  readonly options: number
  /** Variants that can be bought, and those that cannot. Others are in neither count. */
  readonly available: number
  readonly sold_out: number
  readonly rejected: number
}

interface Offer {
  readonly price: number | null
  readonly former: number | null
  readonly options: number
  readonly available: boolean | null
}

const amountOf = (text: string | null | undefined): number | null =>
  text === null || text === undefined || text.trim() === "" ? null : Math.round(Number(text) * 10_000)

/** 0 is not a price if another variant of the product has one, and a former price is above the price. */
const countOffers = (products: ReadonlyArray<ReadonlyArray<Offer>>) => {
  const priced = products.flatMap((variants) => {
    const isPriced = variants.some(({ price }) => price !== null && price > 0)
    return variants.map((offer) => (isPriced && offer.price === 0 ? { ...offer, price: null } : offer))
  })
  const sum = (select: (offer: Offer) => number) => priced.reduce((total, offer) => total + select(offer), 0)
  return {
    variants: priced.length,
    prices: sum(({ price }) => price ?? 0),
    former_prices: sum(({ former, price }) => (former !== null && price !== null && former > price ? former : 0)),
    options: sum(({ options }) => options),
    available: sum(({ available }) => (available === true ? 1 : 0)),
    sold_out: sum(({ available }) => (available === false ? 1 : 0))
  }
}

interface JsonProduct {
  readonly variants: ReadonlyArray<Readonly<Record<string, string | null>> & { readonly available: boolean }>
  readonly images: ReadonlyArray<{ readonly src: string }>
}

const distinct = (values: Iterable<string>) => new Set(values).size
const isOption = (value: unknown) => value !== null && value !== undefined && value !== "" && value !== "Default Title"

const countShopify = (pages: ReadonlyArray<string>): Counts => {
  const products: ReadonlyArray<JsonProduct> = pages.flatMap((page) => JSON.parse(page).products)
  return {
    products: products.length,
    images: products.reduce((sum, { images }) => sum + distinct(images.map(({ src }) => src)), 0),
    rejected: 0,
    ...countOffers(
      products.map(({ variants }) =>
        variants.map(({ available, ...variant }) => ({
          price: amountOf(variant.price),
          former: amountOf(variant.compare_at_price),
          options: [variant.option1, variant.option2, variant.option3].filter(isOption).length,
          available
        }))
      )
    )
  }
}

interface WooProduct {
  readonly prices: { readonly price: string; readonly regular_price: string; readonly currency_minor_unit: number }
  readonly images: ReadonlyArray<{ readonly src: string }>
  readonly is_in_stock: boolean
}

const countWoo = (page: string): Counts => {
  const products: ReadonlyArray<WooProduct> = JSON.parse(page)
  return {
    products: products.length,
    images: products.reduce((sum, { images }) => sum + distinct(images.map(({ src }) => src)), 0),
    rejected: 0,
    ...countOffers(
      products.map(({ is_in_stock, prices }) => {
        const scale = 10 ** (4 - prices.currency_minor_unit)
        const [price, former] = [Number(prices.price) * scale, Number(prices.regular_price) * scale]
        return [{ price, former, options: 0, available: is_in_stock }]
      })
    )
  }
}

const groupBy = <A>(rows: ReadonlyArray<A>, keyOf: (row: A) => string) => {
  const groups = new Map<string, Array<A>>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return [...groups.values()]
}

const optionColumns = ["Option1 Value", "Option2 Value", "Option3 Value"]

const availableOf = (row: Readonly<Record<string, string>>): boolean | null => {
  if (row["Variant Inventory Policy"] === "continue" || row["Variant Inventory Tracker"] === "") return true
  const quantity = row["Variant Inventory Qty"] ?? ""
  return quantity === "" ? null : Number(quantity) > 0
}

const countCsv = (text: string): Counts => {
  const handles = groupBy(parseCsv(text), (row) => row.Handle ?? "")
  const published = handles.filter(([first]) => {
    const isActive = (first?.Status ?? "active") === "active"
    return isActive && first?.Published?.toLowerCase() !== "false"
  })
  const variants = published.map((rows) => rows.filter((row) => row["Variant Price"] !== ""))
  const keyOf = (row: Readonly<Record<string, string>>) => optionColumns.map((name) => row[name]).join("\n")
  const first = variants.map((rows) => groupBy(rows, keyOf).flatMap((same) => same.slice(0, 1)))
  return {
    products: published.length,
    images: published.reduce(
      (sum, rows) => sum + distinct(rows.flatMap((row) => (row["Image Src"] ? [row["Image Src"]] : []))),
      0
    ),
    rejected: variants.flat().length - first.flat().length,
    ...countOffers(
      first.map((rows) =>
        rows.map((row) => ({
          price: amountOf(row["Variant Price"]),
          former: amountOf(row["Variant Compare At Price"]),
          options: optionColumns.filter((name) => isOption(row[name])).length,
          available: availableOf(row)
        }))
      )
    )
  }
}

type ItemFields = (name: string) => ReadonlyArray<string>

const itemsOfXml = (text: string): ReadonlyArray<ItemFields> =>
  [...text.replaceAll("\u00a0", " ").matchAll(/<item>(.*?)<\/item>/gs)].map(([, item = ""]) => {
    const flat = item.replace(/<!--.*?-->/gs, "").replace(/<g:shipping>.*?<\/g:shipping>/gs, "")
    return (name) =>
      [...flat.matchAll(new RegExp(`<g:${name}>(.*?)</g:${name}>`, "gs"))].map(([, value = ""]) =>
        value.replace(/^\s*<!\[CDATA\[(.*)\]\]>\s*$/s, "$1").trim()
      )
  })

const itemsOfTable = (text: string, separator: string): ReadonlyArray<ItemFields> =>
  parseCsv(text, separator).map((row) => (name) => (row[name] ? [row[name]] : []))

const numberIn = (text: string | undefined) => amountOf(/[\d.]+/.exec(text ?? "")?.[0])

const countItems = (items: ReadonlyArray<ItemFields>): Counts => {
  const groups = groupBy(items, (item) => item("item_group_id")[0] ?? item("id")[0] ?? "")
  const first = groups.map((same) => groupBy(same, (item) => item("id")[0] ?? "").flatMap((group) => group.slice(0, 1)))
  const imagesOf = (item: ItemFields) => [...item("image_link").slice(0, 1), ...item("additional_image_link")]
  return {
    products: groups.length,
    images: first.reduce((sum, same) => sum + distinct(same.flatMap(imagesOf)), 0),
    rejected: items.length - first.flat().length,
    ...countOffers(
      first.map((same) =>
        same.map((item) => {
          const [price, sale] = [numberIn(item("price")[0]), numberIn(item("sale_price")[0])]
          const isSale = price !== null && sale !== null && sale < price
          const isGrouped = item("item_group_id").length > 0
          const availability = item("availability")[0]?.replaceAll("_", " ")
          return {
            price: isSale ? sale : price,
            former: isSale ? price : null,
            options: isGrouped ? item("size").length + item("color").length : 0,
            available: availability === undefined ? null : availability !== "out of stock"
          }
        })
      )
    )
  }
}

interface Recorded {
  readonly store: Listed
  readonly files: Files
  readonly counts: Counts
}

const shopify = (name: string, currency: string | undefined, ...files: ReadonlyArray<string>): Recorded => {
  const domain = `${name}.shop.example`
  const pages = files.map((file) => sample(`shopify-json/${file}.json`))
  return {
    store: {
      domain,
      name,
      kind: "shopify",
      location: `https://${domain}`,
      ...(currency === undefined ? {} : { currency })
    },
    files: shopifyPages(domain, pages),
    counts: countShopify(pages)
  }
}

/** Its `meta.json` is recorded, with the currency and the country of the prices. Its collections are not recorded. */
const davidan = (): Recorded => {
  const domain = "davidan.shop.example"
  const page = sample("shopify-json/davidan--davidan_md_products.TRIMMED3.json")
  const pages = shopifyPages(domain, [page], { country: "RO" })
  return {
    store: { domain, name: "davidan", kind: "shopify", location: `https://${domain}` },
    files: {
      ...Object.fromEntries(Object.entries(pages).filter(([name]) => name.includes("/products.json"))),
      [`${domain}/meta.json`]: sample("shopify-json/davidan--meta.json")
    },
    counts: countShopify([page])
  }
}

const woo = (): Recorded => {
  const domain = "samehgabriel.shop.example"
  const page = sample("woocommerce/muhammadbayoumi--samehgabriel_wc_store_products_2026-07-20.json")
  const address = (n: number) => `${domain}/wp-json/wc/store/v1/products?per_page=100&page=${n}`
  return {
    store: { domain, name: "samehgabriel", kind: "woocommerce", location: `https://${domain}` },
    files: { [address(1)]: page, [address(2)]: "[]" },
    counts: countWoo(page)
  }
}

const csv = (name: string, currency: string, file: string): Recorded => {
  const domain = `${name}.csv.example`
  const text = sample(`shopify-csv/${file}.csv`)
  const location = `exports/${file}.csv`
  return {
    store: { domain, name, kind: "shopify-csv", location, currency },
    files: { [location]: text },
    counts: countCsv(text)
  }
}

const google = (name: string, file: string, currency?: string): Recorded => {
  const domain = `${name}.google.example`
  const text = sample(`google-merchant/${file}`)
  const address = `${domain}/feeds/${file}`
  const separator = file.endsWith(".tsv") ? "\t" : ","
  const isTable = /\.(csv|tsv)$/.test(file)
  return {
    store: {
      domain,
      name,
      kind: "google-merchant",
      location: `https://${address}`,
      ...(currency === undefined ? {} : { currency })
    },
    files: { [address]: text },
    counts: countItems(isTable ? itemsOfTable(text, separator) : itemsOfXml(text))
  }
}

const elsewedy = "muhammadbayoumi--elsewedyshop_products"

export const recordedStores = (): ReadonlyArray<Recorded> => [
  shopify("madhavasrinivasan", "INR", "madhavasrinivasan--shopify_products"),
  shopify("akarshk", "INR", "akarshk-max--products_raw"),
  shopify("daraghoshea", "EUR", "daraghoshea--products"),
  shopify("elsewedyshop", "EGP", `${elsewedy}_page1_live`, `${elsewedy}_page4_live`),
  shopify("elsewedyshop-en", "EGP", `${elsewedy}_en_page1_2026-07-23`),
  shopify("1702london", undefined, "1702london-maker--shopify-products"),
  davidan(),
  woo(),
  csv("balancedbites", "CAD", "balancedbitesdev--balanced_bites_shopify_import_ready"),
  csv("basarabiastore", "GBP", "basarabiastore-max--products_export_1"),
  csv("garyjacksonwork", "USD", "garyjacksonwork--products_export_1"),
  csv("kevin-ecometrics", "USD", "kevin-ecometrics--products_export_1"),
  csv("mintpixels", "USD", "mintpixels--products_export_1"),
  csv("apparel", "USD", "shopifypartners--apparel"),
  csv("home-and-garden", "USD", "shopifypartners--home-and-garden"),
  csv("jewelery", "USD", "shopifypartners--jewelery"),
  csv("velofant", "SEK", "velofant--products_export_1"),
  csv("yadayadasoftware", "USD", "yadayadasoftware--shopify_sample_product_template"),
  google("barisugus", "barisugus--merchant-feed.xml"),
  google("m5zoon", "m5zoon--google_merchant_feed_en.tsv", "AED"),
  google("mattosrodrigo", "mattosrodrigo--merchant-feed.xml"),
  google("sooq-alemarat", "sooq-alemarat--google-merchant-feed.xml"),
  google("sooq-alemarat-csv", "sooq-alemarat--google-merchant-feed.csv"),
  google("sooq-masr", "sooq-masr--google-merchant-feed.xml"),
  google("taras2121212", "taras2121212-source--google-merchant-feed.xml"),
  google("velofant", "velofant--Produkter_Prisjakt26_XMl.txt")
]

/** Lists the contents of all recordings. */
export const listRecordings = (stores: ReadonlyArray<Recorded>) => stores.flatMap(({ files }) => Object.values(files))
