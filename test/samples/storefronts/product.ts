/**
 * Products of an invented store. Each depends only on the store and its index, oldest first, so that a million products
 * need no memory, and a product is the same on a page, in a CSV and in a feed. Two products of each store are not goods:
 * the second oldest is a gift card, the eighth a fee.
 */
import { Chance, hashNumbers } from "../branded-foods/chance.ts"
import { drawBody } from "./body.ts"
import { type Category, categories } from "./categories.ts"
import { drawOptions, kinds, makeSlug, makeTitle } from "./kinds.ts"
import { type Theme, themes } from "./shelves.ts"
import { market, type Store } from "./store.ts"
import { drawVariants, makeVariantId, type Variant } from "./variants.ts"

export interface Picture {
  readonly id: number
  readonly src: string
  readonly width: number
  readonly height: number
}

export interface Product {
  readonly index: number
  readonly id: number
  readonly title: string
  readonly handle: string
  readonly body: string
  readonly vendor: string
  readonly type: string
  readonly shelf: string
  readonly category: Category
  readonly tags: ReadonlyArray<string>
  /** Empty if the product has one variant without options. */
  readonly options: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<string> }>
  readonly variants: ReadonlyArray<Variant>
  readonly pictures: ReadonlyArray<Picture>
  readonly published: number
  readonly created: number
  /** A CSV export contains products in all states, the other formats only those on sale. */
  readonly state: "active" | "draft" | "archived" | "unpublished"
  readonly ships: boolean
}

const purpose = { product: 31, texts: 32, variants: 33, pictures: 34 }
const firstDay = Date.UTC(2021, 2, 1, 7)
const chance = new Chance()

const makePictures = (store: Store, index: number, handle: string): ReadonlyArray<Picture> => {
  chance.start(store.seed, purpose.pictures, store.number, index)
  const drawn = chance.below(100)
  const count = drawn < 5 ? 0 : 1 + Math.floor((drawn * drawn) / 2_600)
  const base = 30_000_000_000_000 + store.number * 20_000_000_000 + index * 8_000
  const asciiHandle = handle.normalize("NFKD").replace(/[^a-z0-9-]/g, "")
  return Array.from({ length: count }, (_, i) => ({
    id: base + i * 1_000 + chance.below(1_000),
    src: `https://${store.domain}/cdn/shop/files/${asciiHandle}-${i === 0 ? "front" : `detail_${10 - i}`}.jpg?v=${1_610_000_000 + index * 61 + i}`,
    width: 800 + 40 * chance.below(60),
    height: 800 + 40 * chance.below(60)
  }))
}

const drawTags = ({ tags }: Theme, index: number) => {
  const [from, count] = [chance.below(tags.length), chance.below(5)]
  const drawn = Array.from({ length: Math.min(count, tags.length) }, (_, i) => tags[(from + i) % tags.length] ?? "")
  return chance.happens(0.1) ? [...drawn, `YGroup_${1_000 + (index % 300)}`] : drawn
}

const drawState = (): Product["state"] => {
  const drawn = chance.below(100)
  if (drawn < 88) return "active"
  if (drawn < 93) return "draft"
  return drawn < 97 ? "archived" : "unpublished"
}

const drawDates = (store: Store, index: number) => {
  const published = firstDay + index * 120_000 + (hashNumbers(store.seed, 5, index) % 60) * 1_000
  const hours = 1 + (hashNumbers(store.seed, 6, index) % 400)
  const isImported = hashNumbers(store.seed, 8, index) % 20 === 0 // imported: published before it was created
  return { published, created: published + (isImported ? 1 : -1) * hours * 3_600_000 }
}

/** Ids grow with the age of a store, with gaps. */
const makeId = (store: Store, index: number) =>
  6_000_000_000_000 + store.number * 2_000_000_000 + index * 1_000 + (hashNumbers(store.seed, 9, index) % 1_000)

const addTitleOddity = (title: string) => {
  const drawn = chance.below(100)
  if (drawn < 3) return title.replace(" ", "  ")
  if (drawn < 5) return `${title} `
  return drawn < 7 ? title.toUpperCase() : title
}

const makeGoods = (store: Store, index: number): Product => {
  const all = kinds.get(store.theme) ?? []
  const kind = all[(index + hashNumbers(store.seed, 2, store.number)) % all.length]
  if (!kind) throw new Error(`The theme ${store.theme} has no goods`)
  const { goods } = kind
  const theme = themes[store.theme]
  const round = Math.floor(index / all.length)
  const handle = `${makeSlug(makeTitle(kind))}${round === 0 ? "" : `-${round}`}`
  const pictures = makePictures(store, index, handle)
  chance.start(store.seed, purpose.texts, store.number, index)
  const body = drawBody(chance, store.theme, goods.noun)
  const [title, vendor, tags] = [addTitleOddity(makeTitle(kind)), chance.pick(theme.makers), drawTags(theme, index)]
  // Every fifth store has no product types, the others omit three in ten.
  const type = store.number % 5 === 4 || chance.happens(0.3) ? "" : goods.shelf
  const state = drawState()
  chance.start(store.seed, purpose.variants, store.number, index)
  const options = drawOptions(chance, goods)
  const [from, until] = goods.price
  const minPrice = Math.floor((from + chance.below(until - from)) / 5) * 5
  const offer = { handle, options, sizes: goods.sizes, minPrice, pictures: pictures.length }
  return {
    index,
    id: makeId(store, index),
    title,
    handle,
    body,
    vendor,
    type,
    shelf: goods.shelf,
    category: goods.category,
    tags,
    options,
    variants: drawVariants(chance, store, index, offer),
    pictures,
    ...drawDates(store, index),
    state,
    ships: true
  }
}

const makePlainVariant = (
  store: Store,
  index: number,
  place: number,
  values: ReadonlyArray<string>,
  cents: number
): Variant => ({
  id: makeVariantId(store, index, place),
  values,
  sku: "",
  barcode: "",
  cents,
  compare: null,
  grams: 0,
  available: true,
  picture: null
})

const makeNonGoods = (
  store: Store,
  index: number,
  fields: Pick<Product, "title" | "handle" | "body" | "type" | "tags">
) =>
  ({
    ...fields,
    index,
    id: makeId(store, index),
    vendor: store.name,
    shelf: "Gifts",
    category: categories.giftCards,
    pictures: [],
    ...drawDates(store, index),
    state: "active",
    ships: false
  }) as const

const makeGiftCard = (store: Store, index: number): Product => {
  const values = ["25", "50", "100"]
  return {
    ...makeNonGoods(store, index, {
      title: `${store.name} Gift Card`,
      handle: "gift-card",
      body: "<p>For those who have everything but a full larder. Sent by e-mail; <b>never expires</b>.</p>",
      type: "Gift Cards",
      tags: ["gift"]
    }),
    options: [{ name: "Denominations", values: values.map((value) => `${value}.00 ${market.currency}`) }],
    variants: values.map((value, i) =>
      makePlainVariant(store, index, i, [`${value}.00 ${market.currency}`], Number(value) * 100)
    )
  }
}

const makeFee = (store: Store, index: number): Product => ({
  ...makeNonGoods(store, index, {
    title: "Shipping Protection",
    handle: "shipping-protection",
    body: "",
    type: "mc-hidden-fee",
    tags: ["hidden"]
  }),
  options: [],
  variants: [makePlainVariant(store, index, 0, [], 98)]
})

/** Index 0 is the oldest product. */
const makeProduct = (store: Store, index: number): Product => {
  if (index === 1) return makeGiftCard(store, index)
  return index === 7 ? makeFee(store, index) : makeGoods(store, index)
}

/** Newest first, as in real stores: the first position is 0. */
export const makeProducts = function* (store: Store, from = 0, count = store.products): Generator<Product> {
  const until = Math.min(store.products, from + count)
  for (let place = from; place < until; place++) yield makeProduct(store, store.products - 1 - place)
}
