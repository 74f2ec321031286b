/**
 * The category of a product, and how it was found. A store is read twice: `surveyStore` over all its products, then `classify` with what
 * it found: what the store mostly sells, which of its statements its titles contradict, whether all its products have one type. Without
 * that each product stands alone.
 */
import { type Classified, type Clues, cluesOf, type Described, placed } from "./decide.ts"
import { type PlaceCount, type StoreView, storePrior, storeShares, unknownStore } from "./store-view.ts"
import { readStatement, uncategorized } from "./taxonomy.ts"

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

/** How one category that the feed states fares against the titles of its products. */
interface Stated {
  products: number
  /** Products whose title names something, by the top level that it names. */
  readonly titles: Map<string, number>
  readonly believed: Tally
  readonly unbelieved: Tally
}

/** Below these a statement stands: too few titles name anything, or enough of them agree. */
const leastJudged = 10
const leastCovered = 0.5
const leastAgreeing = 0.35

/**
 * Above this the titles name one and the same other thing, and the difference is one of view (batteries of a solar plant), or the titles
 * name what is on a poster. A category that is stated of all sorts of things is a default that nobody set.
 */
const mostAlike = 0.7

const isContradicted = (category: string, { products, titles }: Stated) => {
  const judged = [...titles.values()].reduce((sum, of) => sum + of, 0)
  if (judged < leastJudged || judged / products < leastCovered) return false
  return (titles.get(category) ?? 0) / judged < leastAgreeing && Math.max(...titles.values()) / judged < mostAlike
}

/** Statements of one store that are looked at one by one; what comes after so many is believed. */
const mostStatements = 5_000

/**
 * `add` every product, then `view` is what the second reading passes to `classify`. Memory depends on the
 * number of categories that the store states, not on its products.
 */
export const surveyStore = () => {
  const places: Tally = new Map()
  /** Of products that state an id: whether ids are believed is known at the end only, and made-up ones must not tell what a store sells. */
  const byId: { readonly believed: Tally; readonly unbelieved: Tally } = { believed: new Map(), unbelieved: new Map() }
  const statements = new Map<string, Stated>()
  const ids = { agreeing: 0, disagreeing: 0 }
  const types = { products: 0, first: null as string | null, areOne: true }

  const addStated = (written: string, product: Described, clues: Clues) => {
    const fresh = { products: 0, titles: new Map(), believed: new Map(), unbelieved: new Map() }
    const stated: Stated = statements.get(written) ?? fresh
    statements.set(written, stated)
    stated.products++
    const named = clues.title?.isStrong ? clues.title.category : undefined
    if (named !== undefined) stated.titles.set(named, (stated.titles.get(named) ?? 0) + 1)
    count(stated.believed, placed(product, unknownStore, clues))
    count(stated.unbelieved, classify(product, { ...unknownStore, contradicted: new Set([written]) }))
  }

  const add = (product: Described) => {
    const clues = cluesOf(product, unknownStore)
    const type = product.product_type?.trim() ?? ""
    types.first ??= type
    if (type !== types.first) types.areOne = false
    types.products++
    const other = clues.type?.isStrong ? clues.type : clues.title
    if (clues.statement?.kind === "id" && other?.isStrong) {
      if (clues.statement.category === other.category) ids.agreeing++
      else ids.disagreeing++
    }
    const written = product.stated_category?.trim() ?? ""
    const isPath = clues.statement?.kind === "path" || clues.statement?.kind === "name"
    if (isPath && (statements.has(written) || statements.size < mostStatements)) addStated(written, product, clues)
    else if (clues.statement?.kind === "id") {
      count(byId.believed, placed(product, unknownStore, clues))
      count(byId.unbelieved, placed(product, { ...unknownStore, believesIds: false }, clues))
    } else count(places, placed(product, unknownStore, clues))
  }

  const view = (): StoreView => {
    const contradicted = new Set<string>()
    const believesIds = ids.disagreeing <= ids.agreeing
    const counts: Array<PlaceCount> = [...places.values(), ...(believesIds ? byId.believed : byId.unbelieved).values()]
    for (const [written, stated] of statements) {
      const isDefault = isContradicted(readStatement(written)?.category ?? uncategorized, stated)
      if (isDefault) contradicted.add(written)
      counts.push(...(isDefault ? stated.unbelieved : stated.believed).values())
    }
    return {
      prior: storePrior(counts),
      shares: storeShares(counts),
      believesIds,
      contradicted,
      sharedType: types.areOne && types.products > 1 && types.first !== "" ? types.first : null
    }
  }

  return { add, view }
}
