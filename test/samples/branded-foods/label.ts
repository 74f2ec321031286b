/** What a label version of a sample release states, in both of its forms. */
import type { StatedAmount } from "./amounts.ts"
import { americanDate, isoDate } from "./days.ts"
import type { Decimal } from "./decimals.ts"

export interface LoggedChange {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** What the update log of a newer version repeats. */
export interface Headline {
  readonly fdc_id: number
  readonly description: string
  /** Days since 2014-01-01, as all days here. */
  readonly published: number
  readonly changes: ReadonlyArray<LoggedChange>
}

/** Empty text: not stated. */
export interface Label extends Headline {
  readonly short_description: string
  readonly brand_owner: string
  readonly brand_name: string
  readonly subbrand_name: string
  readonly gtin_upc: string
  readonly ingredients: string
  /** CSV only. */
  readonly not_a_significant_source_of: string
  /** Cleaned; zero where the label lost it. */
  readonly serving: Decimal
  /** As published, now and then with the noise of a 32-bit float. */
  readonly serving_size: string
  readonly serving_size_unit: string
  readonly household_serving_fulltext: string
  readonly category: string
  /** The CSV has the category in `food.csv` instead of `branded_food.csv`. */
  readonly categoryOnlyInFood: boolean
  readonly data_source: string
  readonly package_weight: string
  /** -1: not stated. */
  readonly modified: number
  readonly available: number
  readonly discontinued: number
  readonly market_country: string
  readonly preparation_state_code: string
  readonly trade_channels: ReadonlyArray<string>
  readonly material_code: string
  /** JSON only, as the next two; 0: not stated. */
  readonly gpc_class_code: number
  readonly caffeine_statement: string
  readonly footnote: string
  /** `labelNutrients` of the JSON is empty although amounts are stated. */
  readonly withoutLabelNutrients: boolean
  /** The CSV spells the publication date `M/D/YYYY`. */
  readonly americanDates: boolean
  readonly amounts: ReadonlyArray<StatedAmount>
}

export const dateText = (day: number, american: boolean) => {
  if (day < 0) return ""
  return american ? americanDate(day) : isoDate(day)
}
