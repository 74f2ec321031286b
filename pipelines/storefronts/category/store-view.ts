/**
 * What the products of a store say together: what it mostly sells, and whether it gives every product the same type. Memory does not
 * grow with the store.
 */
import { nowhere, type Place, uncategorized } from "./taxonomy.ts"

export interface StorePrior extends Place {
  /** Of the products whose category is known for sure. */
  readonly share: number
  readonly products: number
}

export interface StoreView {
  readonly prior: StorePrior | null
  /** Of the confidently placed products, by top level; empty for a store of fewer than 20. */
  readonly shares: ReadonlyMap<string, number>
  /** The type that every product of the store has, which therefore says little about one of them. */
  readonly sharedType: string | null
}

export const unknownStore: StoreView = {
  prior: null,
  shares: new Map(),
  sharedType: null
}

/** Needed before one category stands for a store: fewer products could be chance. */
const fewest = 5
const majority = 0.6

/** Needed before a rare category says that a title was misread. */
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

/** What a store sells when more than 60 % of its confidently placed products are of one top level. */
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
