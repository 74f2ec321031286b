/** Counts what stands in written texts, in ways that know nothing of how they were written. */

export interface Counted {
  products: number
  variants: number
  images: number
  cents: bigint
}

export const nothing = (): Counted => ({ products: 0, variants: 0, images: 0, cents: 0n })

/** `12.5`, `12`, `12.50`: exactly. */
export const centsOf = (amount: string): bigint => {
  const found = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount)
  if (!found) throw new Error(`${JSON.stringify(amount)} is no amount`)
  return BigInt(found[1] ?? "") * 100n + BigInt((found[2] ?? "").padEnd(2, "0"))
}

export const textOf = (cents: bigint) => `${cents / 100n}.${`${cents % 100n}`.padStart(2, "0")}`

export interface StorefrontVariant {
  readonly id: number
  readonly title: string
  readonly option1: string
  readonly option2: string | null
  readonly sku: string | null
  readonly available: boolean
  readonly price: string
  readonly compare_at_price: string | null
  readonly requires_shipping: boolean
  readonly updated_at: string
  readonly featured_image: { readonly id: number } | null
}

export interface StorefrontProduct {
  readonly id: number
  readonly title: string
  readonly handle: string
  readonly body_html: string
  readonly published_at: string
  readonly created_at: string
  readonly updated_at: string
  readonly vendor: string
  readonly product_type: string
  readonly tags: ReadonlyArray<string>
  readonly variants: ReadonlyArray<StorefrontVariant>
  readonly images: ReadonlyArray<{
    readonly id: number
    readonly src: string
    readonly variant_ids: ReadonlyArray<number>
  }>
}

export const storefrontProducts = (text: string | undefined) =>
  (JSON.parse(text ?? "") as { readonly products: ReadonlyArray<StorefrontProduct> }).products // the shape under test

export const countStorefront = (products: ReadonlyArray<StorefrontProduct>): Counted => {
  const counted = nothing()
  for (const { images, variants } of products) {
    counted.products += 1
    counted.images += images.length
    for (const { price } of variants) {
      counted.variants += 1
      counted.cents += centsOf(price)
    }
  }
  return counted
}

const decoded = (text: string) =>
  text.startsWith("<![CDATA[")
    ? text.slice(9, -3)
    : text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")

/** The leaves of an item by name, several of one name in order; what is nested in `g:shipping` is left out. */
export const itemsOf = (feed: string): ReadonlyArray<ReadonlyMap<string, ReadonlyArray<string>>> =>
  [...feed.matchAll(/<item>([\s\S]*?)<\/item>/g)].map(([, item = ""]) => {
    const leaves = new Map<string, Array<string>>()
    const flat = item.replace(/<g:shipping>[\s\S]*?<\/g:shipping>/g, "").replace(/<!--[\s\S]*?-->/g, "")
    for (const [, name = "", text = ""] of flat.matchAll(/<([\w:]+)>(<!\[CDATA\[[\s\S]*?\]\]>|[^<]*)<\/\1>/g))
      leaves.set(name, [...(leaves.get(name) ?? []), decoded(text)])
    return leaves
  })
