/**
 * What the products of a store show together: what it mostly sells, and whether they all have the same type. Memory
 * does not grow with the number of products.
 */
import { nowhere, type Place, uncategorized } from "./taxonomy.ts"

export interface StorePrior extends Place {
  /** Of the products whose category is certain. */
  readonly share: number
  readonly products: number
}

export interface StoreView {
  readonly prior: StorePrior | null
  /** Share of each top level among the confidently placed products; empty if there are fewer than 20 of them. */
  readonly shares: ReadonlyMap<string, number>
  /** The type that every product of the store has. It therefore says little about any of them. */
  readonly sharedType: string | null
}

export const unknownStore: StoreView = {
  prior: null,
  shares: new Map(),
  sharedType: null
}

/** Products needed before one category represents a store; a smaller sample is not significant. */
const fewest = 5
const majority = 0.6

/** Products needed before a rare category indicates that a title was misread. */
const fewestForShares = 20

export interface PlaceCount extends Place {
  readonly products: number
}

export const storeShares = (counts: Iterable<PlaceCount>): ReadonlyMap<string, number> => {
  const products = new Map<string, number>()
  let total = 0
  for (const count of counts) {
    total += count.products
    products.set(count.category, (products.get(count.category) ?? 0) + count.products)
  }
  if (total < fewestForShares) return new Map()
  return new Map([...products].map(([category, of]) => [category, of / total]))
}

/** What a store mostly sells, if over 60 % of its confidently placed products have one top level; otherwise null. */
export const storePrior = (counts: Iterable<PlaceCount>): StorePrior | null => {
  const categories = new Map<string, number>()
  const subs = new Map<string, PlaceCount>()
  let total = 0
  for (const count of counts) {
    if (count.category === uncategorized) continue
    total += count.products
    categories.set(count.category, (categories.get(count.category) ?? 0) + count.products)
    const key = `${count.category}/${count.sub_category}`
    subs.set(key, { ...count, products: (subs.get(key)?.products ?? 0) + count.products })
  }
  const [category, products] = [...categories].reduce(
    (most, next) => (next[1] > most[1] ? next : most),
    [nowhere.category, 0]
  )
  if (total < fewest || products / total <= majority) return null
  const sub = [...subs.values()].find((count) => count.category === category && count.products / total > majority)
  return { category, sub_category: sub?.sub_category ?? uncategorized, share: products / total, products: total }
}
