/**
 * Finds the category of a product and the method that decided. A store is read twice: `surveyStore` reads all its
 * products, then `classify` uses the result: what the store mostly sells, the share of each top level, and whether all
 * its products have one type. Without a survey each product is classified by itself.
 */
import { type Classification, type DescribedProduct, decideCategory } from "./decide.ts"
import { computeShares, findPrior, type PlaceCount, type StoreView, unknownStore } from "./store-view.ts"
import { uncategorized } from "./taxonomy.ts"

export const classify = (product: DescribedProduct, store: StoreView = unknownStore): Classification =>
  decideCategory(product, store)

/** Minimum confidence of a product that counts towards what its store sells. */
const minConfidence = 0.8

type Tally = Map<string, { category: string; sub_category: string; products: number }>

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
  const types = { products: 0, first: null as string | null, areOne: true }

  const add = (product: DescribedProduct) => {
    const type = product.product_type?.trim() ?? ""
    types.first ??= type
    if (type !== types.first) types.areOne = false
    types.products++
    countPlace(places, classify(product))
  }

  const view = (): StoreView => {
    const counts: ReadonlyArray<PlaceCount> = [...places.values()]
    return {
      prior: findPrior(counts),
      shares: computeShares(counts),
      sharedType: types.areOne && types.products > 1 && types.first !== "" ? types.first : null
    }
  }

  return { add, view }
}
