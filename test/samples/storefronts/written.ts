/**
 * Counts of the rows that a correct run loads from an invented store, from its products instead of the written files. Sums
 * are in whole minor units, so that they are exact.
 */
import { formatMoney } from "./store.ts"

export interface Written {
  /** Products of pages, records of a CSV, items of a feed. */
  readonly rows: number
  readonly products: number
  readonly variants: number
  /** Addresses of pictures, each once per product. */
  readonly images: number
  /** Sum of the prices of all variants. */
  readonly price_sum: string
  /** Variants with a reduced price: their `compare_at_price` is above the price. */
  readonly reduced: number
  readonly sold_out: number
  /** Rows of products that are not on sale: drafts, archived and unpublished ones. */
  readonly left_out: number
  /** Items with the id of an earlier item. */
  readonly duplicates: number
}

export class Tally {
  rows = 0
  products = 0
  variants = 0
  images = 0
  reduced = 0
  sold_out = 0
  left_out = 0
  duplicates = 0
  private cents = 0

  /** Adds a variant with its expected values. Prices are in cents. */
  addVariant(cents: number, compare: number | null, available: boolean) {
    this.variants += 1
    this.cents += cents
    if (compare !== null && compare > cents) this.reduced += 1
    if (!available) this.sold_out += 1
  }

  get written(): Written {
    const { duplicates, images, left_out, products, reduced, rows, sold_out, variants } = this
    const price_sum = formatMoney(this.cents)
    return { rows, products, variants, images, price_sum, reduced, sold_out, left_out, duplicates }
  }
}

const computeCents = (amount: string) => Number(amount.replace(".", ""))

/** Adds up the counts of several stores. */
export const addCounts = (all: ReadonlyArray<Written>): Written => {
  const sum = (count: (written: Written) => number) => all.reduce((total, written) => total + count(written), 0)
  return {
    rows: sum(({ rows }) => rows),
    products: sum(({ products }) => products),
    variants: sum(({ variants }) => variants),
    images: sum(({ images }) => images),
    price_sum: formatMoney(sum(({ price_sum }) => computeCents(price_sum))),
    reduced: sum(({ reduced }) => reduced),
    sold_out: sum(({ sold_out }) => sold_out),
    left_out: sum(({ left_out }) => left_out),
    duplicates: sum(({ duplicates }) => duplicates)
  }
}
