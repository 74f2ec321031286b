/** Which store: all that its products follow from. The same store has the same products in whatever form it is written. */
import type { ThemeName } from "./shelves.ts"

export interface Store {
  /** Under a reserved name such as `meadow-dairy.example`. */
  readonly domain: string
  readonly name: string
  readonly theme: ThemeName
  readonly seed: number
  /** Two stores of one platform need two numbers: ids of products, variants and images follow from it. Below 1,000. */
  readonly number: number
  /** Up to two million. A store of more products has the same ones and newer ones. */
  readonly products: number
  readonly currency: string
  readonly country: string
  readonly city: string
  /** Minutes east of Greenwich in winter; an hour more from April to October. */
  readonly utc_offset: number
  /** Between one product and the next. */
  readonly minutes_apart: number
  /** When the store answered: Shopify gives this second as `updated_at` of everything. */
  readonly answered_at: string
}

/** A store of any size, for tests and benchmarks; the four themes in turns. */
export const invented = (size: {
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
    answered_at: "2026-11-20T06:30:00Z"
  }
}

const pad = (value: number) => `${value}`.padStart(2, "0")

/** As Shopify writes instants: local time and offset, which changes inside a page with daylight saving. */
export const localTime = (store: Store, milliseconds: number) => {
  const month = new Date(milliseconds).getUTCMonth()
  const offset = store.utc_offset + (month >= 3 && month <= 9 ? 60 : 0)
  const local = new Date(milliseconds + offset * 60_000).toISOString().slice(0, 19)
  const size = Math.abs(offset)
  return `${local}${offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}

/** 1250 as `12.50`. */
export const moneyText = (cents: number) => `${Math.floor(cents / 100)}.${pad(cents % 100)}`

export const fullName = (store: Store) => `https://${store.domain}`
