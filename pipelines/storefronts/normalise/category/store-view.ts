/** The view of a store that all its products give: what it mostly sells, and whether they all have the same type. */
import { type Place, uncategorized } from "./taxonomy.ts"

interface StorePrior extends Place {
  /** Among the products whose category is certain. */
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

export const unknownStore: StoreView = { prior: null, shares: new Map(), sharedType: null }

/** Products needed before one category represents a store; a smaller sample is not significant. */
const minProducts = 5
const minMajority = 0.6

/** Products needed before a rare category indicates that a title was misread. */
const minProductsForShares = 20

export interface PlaceCount extends Place {
  readonly products: number
}

const countByCategory = (counts: ReadonlyArray<PlaceCount>) => {
  const products = new Map<string, number>()
  for (const count of counts) products.set(count.category, (products.get(count.category) ?? 0) + count.products)
  return products
}
const sum = (counts: ReadonlyArray<PlaceCount>) => counts.reduce((total, { products }) => total + products, 0)

export const computeShares = (counts: ReadonlyArray<PlaceCount>): ReadonlyMap<string, number> => {
  const total = sum(counts)
  if (total < minProductsForShares) return new Map()
  return new Map([...countByCategory(counts)].map(([category, products]) => [category, products / total]))
}

/** The category that a store mostly sells, with over 60 % of its confidently placed products; otherwise null. */
export const findPrior = (counts: ReadonlyArray<PlaceCount>): StorePrior | null => {
  const placed = counts.filter(({ category }) => category !== uncategorized)
  const total = sum(placed)
  const prior = [...countByCategory(placed)].find(([, products]) => products / total > minMajority)
  if (total < minProducts || prior === undefined) return null
  const [category, products] = prior
  const sub = placed.find((count) => count.category === category && count.products / total > minMajority)
  return { category, sub_category: sub?.sub_category ?? uncategorized, share: products / total, products: total }
}
