/**
 * The price of an item. A lower sale price is the price while the sale takes place, and the regular price is then the one
 * before the reduction. A sale without a period takes place, one whose period is not understood does not.
 */
import { isPlaceholder } from "../../../run/placeholders.ts"
import type { FieldType } from "../field-types.ts"
import { type Amount, amountType, currencyType } from "../money/amounts.ts"
import { compareDecimals, normalizeText, parseTime } from "../texts.ts"
import type { Fields } from "../typed-fields.ts"
import type { FieldName } from "./field-names.ts"
import type { FieldValues } from "./fields.ts"
import type { FeedItem } from "./item.ts"

/** In milliseconds since 1970. `to` is the first moment after the period. */
interface Period {
  readonly from: number
  readonly to: number
}

const day = 86_400_000

/** A time, in UTC if it names no zone, or a day. `isEnd`: a day ends with its last moment. Undefined for other texts. */
const parseMoment = (text: string, isEnd: boolean): number | undefined => {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const time = parseTime(text) ?? parseTime(isDay ? `${text}T00:00Z` : `${text}Z`)
  return time === null ? undefined : Date.parse(time) + (isDay && isEnd ? day : 0)
}

/** `2026-03-01T00:00+0100/2026-04-01T00:00+0100`. Either end may be missing. */
const period: FieldType<Period> = {
  name: "a period of two times",
  read: (value) => {
    const [begin = "", end, ...others] = String(value)
      .split("/")
      .map((part) => part.trim())
    if (end === undefined || others.length > 0 || begin + end === "") return undefined
    const from = begin === "" ? Number.NEGATIVE_INFINITY : parseMoment(begin, false)
    const to = end === "" ? Number.POSITIVE_INFINITY : parseMoment(end, true)
    return from === undefined || to === undefined || from >= to ? undefined : { from, to }
  }
}

const never: Period = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }
const always: Period = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** When the sale takes place: always if the item does not state it; null if that is not understood. */
const readSalePeriod = (typed: Fields<FieldName>, text: string | null): Period | null =>
  text === null || isPlaceholder(text) ? always : typed.read("sale_price_effective_date", text, period)

const isLower = (sale: Amount, price: Amount | null) =>
  price === null ||
  ((sale.currency === null || price.currency === null || sale.currency === price.currency) &&
    compareDecimals(sale.amount, price.amount) < 0)

/** `currency` is null if the item names none. */
export const readPrices = (fields: FieldValues, typed: Fields<FieldName>, item: Omit<FeedItem, "fields">) => {
  const first = (name: FieldName) => normalizeText(fields(name)[0])
  const stated = typed.read("currency", first("currency"), currencyType(item))
  const amount = amountType({ currency: stated ?? item.currency, separator: item.prices.separator })
  const statedPrice = typed.read("price", first("price"), amount)
  const statedSale = typed.read("sale_price", first("sale_price"), amount)
  const sale = statedSale?.amount === "0" ? null : statedSale // 0 means "no sale"
  const price = statedPrice?.amount === "0" && sale !== null ? null : statedPrice
  const named = statedPrice?.currency ?? sale?.currency ?? null
  if (named !== null && stated !== null && named !== stated)
    item.stats.recordCurrencyConflict(`a price is in ${named}, and its item states ${stated} as its currency`)
  const currency = named ?? stated
  const regular = { price: price?.amount ?? null, compare_at_price: null, currency }
  if (sale === null || !isLower(sale, price)) return regular
  const { from, to } = readSalePeriod(typed, first("sale_price_effective_date")) ?? never
  for (const time of [from, to]) if (time > item.read_at) item.stats.recordSaleChange(time)
  return from <= item.read_at && item.read_at < to
    ? { price: sale.amount, compare_at_price: price?.amount ?? null, currency }
    : regular
}
