/**
 * The category of a product, and how it was found. A store is read twice: `surveyStore` over all its products, then `classify` with what
 * it found: what the store mostly sells, which of its statements its titles contradict, whether all its products have one type. Without
 * that each product stands alone.
 */
import { type Classified, cluesOf, type Described, placed } from "./decide.ts"
import { type PlaceCount, type StoreView, storePrior, storeShares, unknownStore } from "./store-view.ts"
import { uncategorized } from "./taxonomy.ts"

export const classify = (product: Described, store: StoreView = unknownStore): Classified =>
  placed(product, store, cluesOf(product, store))

/** At least this sure to count for what a store sells. */
const sure = 0.8

type Tally = Map<string, { category: string; sub_category: string; products: number }>

const count = (tally: Tally, { category, sub_category, confidence }: Classified) => {
  if (confidence < sure || category === uncategorized) return
  const key = `${category}/${sub_category}`
  const before = tally.get(key)
  if (before === undefined) tally.set(key, { category, sub_category, products: 1 })
  else before.products++
}

/** `add` every product, then `view` is what the second reading passes to `classify`. Memory does not depend on the products. */
export const surveyStore = () => {
  const places: Tally = new Map()
  const types = { products: 0, first: null as string | null, areOne: true }

  const add = (product: Described) => {
    const type = product.product_type?.trim() ?? ""
    types.first ??= type
    if (type !== types.first) types.areOne = false
    types.products++
    count(places, classify(product))
  }

  const view = (): StoreView => {
    const counts: ReadonlyArray<PlaceCount> = [...places.values()]
    return {
      prior: storePrior(counts),
      shares: storeShares(counts),
      sharedType: types.areOne && types.products > 1 && types.first !== "" ? types.first : null
    }
  }

  return { add, view }
}
