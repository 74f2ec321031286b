/** Variants: combinations of options, with prices, former prices, stock and weights. */
import { type Chance, hashNumbers } from "../branded-foods/chance.ts"
import type { Choice } from "./kinds.ts"
import type { Size } from "./shelves.ts"
import type { Store } from "./store.ts"

export interface Variant {
  readonly id: number
  readonly values: ReadonlyArray<string>
  readonly sku: string | null
  readonly barcode: string
  readonly cents: number
  /** As the store states it: above, equal to or below the price, or 0. */
  readonly compare: number | null
  readonly grams: number
  readonly available: boolean
  /** Index among the pictures. */
  readonly picture: number | null
}

/** At most 40 variants for each of a million products. */
export const makeVariantId = (store: Store, index: number, place: number) =>
  40_000_000_000_000 + store.number * 40_000_000_000 + (index * 40 + place) * 500

const combineOptions = (options: ReadonlyArray<Choice>) =>
  options.reduce<ReadonlyArray<ReadonlyArray<string>>>(
    (rows, { values }) => rows.flatMap((row) => values.map((value) => [...row, value])),
    [[]]
  )

/** Larger sizes cost slightly less by weight. Without a weight, each step costs half as much again. */
const computeCents = (minPrice: number, sizes: ReadonlyArray<Size>, step: number) => {
  const [smallest, grams] = [sizes[0]?.[1] ?? 0, sizes[step]?.[1] ?? 0]
  if (step === 0) return minPrice
  return Math.floor((smallest === 0 ? (minPrice * (2 + step)) / 2 : (minPrice * grams * 23) / (smallest * 25)) / 5) * 5
}

const drawComparePrice = (drawn: number, cents: number) => {
  if (drawn < 70 || cents === 0) return null
  if (drawn < 86) return Math.ceil((cents * 5) / 4 / 10) * 10
  if (drawn < 91) return cents
  return drawn < 95 ? Math.floor(cents / 2) : 0
}

const makeBarcode = (store: Store, id: number) => {
  const digits = `20${`${store.number}`.padStart(3, "0")}${`${id % 10_000_000}`.padStart(7, "0")}`
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const makeSku = (handle: string, place: number, style: number) => {
  if (style < 3) return null
  if (style < 5) return ""
  return `${handle.slice(0, 3).toUpperCase()}-${`${hashNumbers(3, place, handle.length) % 10_000}`.padStart(4, "0")}-${place + 1}`
}

export interface Offer {
  readonly handle: string
  readonly options: ReadonlyArray<Choice>
  readonly sizes: ReadonlyArray<Size>
  /** Price of the smallest size, in cents. */
  readonly minPrice: number
  readonly pictures: number
}

export const drawVariants = (
  chance: Chance,
  store: Store,
  index: number,
  { handle, minPrice, options, pictures, sizes }: Offer
): ReadonlyArray<Variant> => {
  const [comparing, skus, free, soldOut] = [chance.below(100), chance.below(10), chance.below(100), chance.below(100)]
  const hasOwnPicture = pictures > 1 && chance.happens(0.4)
  const isUnweighed = chance.happens(0.2)
  return combineOptions(options).map((values, place) => {
    const size = sizes.findIndex(([label]) => values.includes(label))
    const step = Math.max(0, size)
    const surcharge = values.includes("Gift Box") ? 350 : 0
    const cents = free < 2 && place === 0 ? 0 : computeCents(minPrice, sizes, step) + surcharge
    return {
      id: makeVariantId(store, index, place) + (hashNumbers(1, index, place) % 500),
      values,
      sku: makeSku(handle, place, skus),
      barcode: makeBarcode(store, index * 40 + place),
      cents,
      compare: drawComparePrice(comparing, cents),
      grams: isUnweighed ? 0 : (sizes[step]?.[1] ?? 0),
      available: soldOut >= 6 && !chance.happens(0.08),
      picture: hasOwnPicture && place < pictures ? place : null
    }
  })
}
