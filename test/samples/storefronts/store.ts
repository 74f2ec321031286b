/** Invented stores of any size, for tests and benchmarks. A store determines its products: they are the same in every format. */
import type { ThemeName } from "./shelves.ts"

export interface Store {
  /** A reserved name such as `meadow-dairy.example`. */
  readonly domain: string
  readonly name: string
  readonly theme: ThemeName
  readonly seed: number
  /** Determines the ids of products, variants and images, so it differs between stores of a platform. Below 1,000. */
  readonly number: number
  /** At most two million. A larger store has the same products and newer ones. */
  readonly products: number
}

/** Of all invented stores. */
export const market = { currency: "EUR", country: "IE", city: "Dublin" }

/** Makes a store of any size, with alternating themes. */
export const inventStore = (size: {
  readonly products: number
  readonly seed: number
  readonly number?: number
}): Store => {
  const number = size.number ?? 1
  const theme = (["pantry", "dairy", "bakery", "homewares"] as const)[number % 4] ?? "pantry"
  const padded = `${number}`.padStart(4, "0")
  return {
    domain: `shop-${padded}.example`,
    name: `Shop ${padded}`,
    theme,
    seed: size.seed,
    number,
    products: size.products
  }
}

const pad = (value: number) => `${value}`.padStart(2, "0")

/** The time format of Shopify: local time and offset, which changes within a page with daylight saving. */
export const formatLocalTime = (milliseconds: number) => {
  const month = new Date(milliseconds).getUTCMonth()
  const hours = month >= 3 && month <= 9 ? 1 : 0
  return `${new Date(milliseconds + hours * 3_600_000).toISOString().slice(0, 19)}+0${hours}:00`
}

/** 1250 as `12.50`. */
export const formatMoney = (cents: number) => `${Math.floor(cents / 100)}.${pad(cents % 100)}`

export const getBaseUrl = (store: Store) => `https://${store.domain}`
