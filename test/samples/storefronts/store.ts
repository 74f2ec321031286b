/** An invented store, which determines its products: they are the same in every format. */
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
  readonly currency: string
  readonly country: string
  readonly city: string
  /** Minutes east of Greenwich in winter; an hour more from April to October. */
  readonly utc_offset: number
  /** Minutes between products. */
  readonly minutes_apart: number
  /** Time of the response, which Shopify states as `updated_at` of everything. */
  readonly responded_at: string
}

/** Makes a store of any size, for tests and benchmarks, with alternating themes. */
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
    products: size.products,
    currency: "EUR",
    country: "IE",
    city: "Dublin",
    utc_offset: 0,
    minutes_apart: 2,
    responded_at: "2026-11-20T06:30:00Z"
  }
}

const pad = (value: number) => `${value}`.padStart(2, "0")

/** The time format of Shopify: local time and offset, which changes within a page with daylight saving. */
export const formatLocalTime = (store: Store, milliseconds: number) => {
  const month = new Date(milliseconds).getUTCMonth()
  const offset = store.utc_offset + (month >= 3 && month <= 9 ? 60 : 0)
  const local = new Date(milliseconds + offset * 60_000).toISOString().slice(0, 19)
  const size = Math.abs(offset)
  return `${local}${offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}

/** 1250 as `12.50`. */
export const formatMoney = (cents: number) => `${Math.floor(cents / 100)}.${pad(cents % 100)}`

export const getBaseUrl = (store: Store) => `https://${store.domain}`
