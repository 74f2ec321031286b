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

interface Shelf {
  readonly title: string
  /** May have characters outside ASCII. */
  readonly handle: string
  readonly shelves: ReadonlyArray<string>
  readonly description: string
}

const shelf = (title: string, handle: string, shelves: string, description: string): Shelf => ({
  title,
  handle,
  shelves: shelves.split("|"),
  description
})

const shelvesOf: Readonly<Record<ThemeName, ReadonlyArray<Shelf>>> = {
  dairy: [
    shelf("Blue & Hard Cheese", "blue-hard-cheese", "Cheese", "From mild to &lsquo;mind the dog&rsquo;."),
    shelf("Crème & Butter", "crème-butter", "Butter & Cream|Milk", ""),
    shelf("Gifts", "gifts", "Gifts|Kitchen|Frozen", "<p>For people who like <em>cheese</em>.</p>")
  ],
  bakery: [
    shelf("Bread", "bread", "Bread", "Baked at four in the morning."),
    shelf("Pâtisserie", "pâtisserie", "Pastries|Cakes|Tarts & Pies", ""),
    shelf("Gifts", "gifts", "Gifts|Kitchen", "")
  ],
  pantry: [
    shelf("Oils, Vinegars & Condiments", "oils-vinegars-condiments", "Oils & Vinegars|Condiments", ""),
    shelf("Café & Breakfast", "café-breakfast", "Spreads|Coffee & Tea", "The first shelf of the day."),
    shelf("Gifts", "gifts", "Gifts|Kitchen", "")
  ],
  homewares: [
    shelf("Garden", "garden", "Garden|Seeds", "Out of doors."),
    shelf("Café & Kitchen", "café-kitchen", "Kitchen", ""),
    shelf("Gifts", "gifts", "Gifts|Home", "")
  ]
}

const newest = 400 // only these products are searched: a store with a million has the same collections
const mostMembers = 250

/** Best sellers first, as in real stores. */
export const makeCollections = (store: Store): ReadonlyArray<Collection> => {
  const products = [...makeProducts(store, 0, newest)]
  const base = 270_000_000_000 + store.number * 1_000_000
  const filled = shelvesOf[store.theme].map(({ shelves, ...about }, i) => ({
    ...about,
    id: base + i * 37,
    hasImage: i !== 1,
    members: products
      .filter((product) => shelves.includes(product.shelf))
      .toSorted((a, b) => hashNumbers(store.seed, 41, a.index) - hashNumbers(store.seed, 41, b.index))
      .slice(0, mostMembers)
  }))
  const empty = { title: "Coming Soon", handle: "coming-soon", description: "", hasImage: false, members: [] }
  return [...filled, { ...empty, id: base + 999 }]
}
