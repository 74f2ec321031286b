/** Collections of an invented store: three by shelf, and an empty one. Members are not ordered by date. */
import { hashNumbers } from "../branded-foods/chance.ts"
import { makeProducts, type Product } from "./product.ts"
import type { ThemeName } from "./shelves.ts"
import type { Store } from "./store.ts"

export interface Collection {
  readonly id: number
  readonly title: string
  readonly handle: string
  readonly description: string
  readonly hasImage: boolean
  readonly members: ReadonlyArray<Product>
}

interface CollectionTemplate {
  readonly title: string
  /** May have characters outside ASCII. */
  readonly handle: string
  readonly shelves: ReadonlyArray<string>
  readonly description: string
}

const makeTemplate = (title: string, handle: string, shelves: string, description: string): CollectionTemplate => ({
  title,
  handle,
  shelves: shelves.split("|"),
  description
})

const templates: Readonly<Record<ThemeName, ReadonlyArray<CollectionTemplate>>> = {
  dairy: [
    makeTemplate("Blue & Hard Cheese", "blue-hard-cheese", "Cheese", "From mild to &lsquo;mind the dog&rsquo;."),
    makeTemplate("Crème & Butter", "crème-butter", "Butter & Cream|Milk", ""),
    makeTemplate("Gifts", "gifts", "Gifts|Kitchen|Frozen", "<p>For people who like <em>cheese</em>.</p>")
  ],
  bakery: [
    makeTemplate("Bread", "bread", "Bread", "Baked at four in the morning."),
    makeTemplate("Pâtisserie", "pâtisserie", "Pastries|Cakes|Tarts & Pies", ""),
    makeTemplate("Gifts", "gifts", "Gifts|Kitchen", "")
  ],
  pantry: [
    makeTemplate("Oils, Vinegars & Condiments", "oils-vinegars-condiments", "Oils & Vinegars|Condiments", ""),
    makeTemplate("Café & Breakfast", "café-breakfast", "Spreads|Coffee & Tea", "The first shelf of the day."),
    makeTemplate("Gifts", "gifts", "Gifts|Kitchen", "")
  ],
  homewares: [
    makeTemplate("Garden", "garden", "Garden|Seeds", "Out of doors."),
    makeTemplate("Café & Kitchen", "café-kitchen", "Kitchen", ""),
    makeTemplate("Gifts", "gifts", "Gifts|Home", "")
  ]
}

const searchedCount = 400 // only these products are searched: a store with a million has the same collections
const maxMembers = 250

/** Best sellers first, as in real stores. */
export const makeCollections = (store: Store): ReadonlyArray<Collection> => {
  const products = [...makeProducts(store, 0, searchedCount)]
  const base = 270_000_000_000 + store.number * 1_000_000
  const filled = templates[store.theme].map(({ shelves, ...template }, i) => ({
    ...template,
    id: base + i * 37,
    hasImage: i !== 1,
    members: products
      .filter((product) => shelves.includes(product.shelf))
      .toSorted((a, b) => hashNumbers(store.seed, 41, a.index) - hashNumbers(store.seed, 41, b.index))
      .slice(0, maxMembers)
  }))
  const empty = { title: "Coming Soon", handle: "coming-soon", description: "", hasImage: false, members: [] }
  return [...filled, { ...empty, id: base + 999 }]
}
