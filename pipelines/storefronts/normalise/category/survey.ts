/**
 * Surveys a store before its products are classified: what it mostly sells, the share of each top level, and whether all
 * its products have one type.
 */
import { type Classification, classify, type DescribedProduct, type StorePrior, type StoreView } from "./classify.ts"
import { type Place, uncategorized } from "./taxonomy.ts"

/** Products needed before one category represents a store; a smaller sample is not significant. */
const minProducts = 5
const minMajority = 0.6

/** Products needed before a rare category indicates that a title was misread. */
const minProductsForShares = 20

interface PlaceCount extends Place {
  readonly products: number
}

const countByCategory = (counts: ReadonlyArray<PlaceCount>) => {
  const products = new Map<string, number>()
  for (const count of counts) products.set(count.category, (products.get(count.category) ?? 0) + count.products)
  return products
}
const sum = (counts: ReadonlyArray<PlaceCount>) => counts.reduce((total, { products }) => total + products, 0)

const computeShares = (counts: ReadonlyArray<PlaceCount>): ReadonlyMap<string, number> => {
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

/** Minimum confidence of a product that counts towards what its store sells. */
const minConfidence = 0.8

type Tally = Map<string, Place & { products: number }>

const countPlace = (tally: Tally, { category, sub_category, confidence }: Classification) => {
  if (confidence < minConfidence || category === uncategorized) return
  const key = `${category}/${sub_category}`
  const before = tally.get(key)
  if (before === undefined) tally.set(key, { category, sub_category, products: 1 })
  else before.products++
}

/** Call `add` for every product; `view` then returns what `classify` needs. Memory does not grow with the products. */
export const surveyStore = () => {
  const places: Tally = new Map()
  const types = { products: 0, first: null as string | null, areEqual: true }

  const add = (product: DescribedProduct) => {
    const type = product.product_type?.trim() ?? ""
    types.first ??= type
    if (type !== types.first) types.areEqual = false
    types.products++
    countPlace(places, classify(product))
  }

  const view = (): StoreView => {
    const counts = [...places.values()]
    return {
      prior: findPrior(counts),
      shares: computeShares(counts),
      sharedType: types.areEqual && types.products > 1 && types.first !== "" ? types.first : null
    }
  }

  return { add, view }
}
