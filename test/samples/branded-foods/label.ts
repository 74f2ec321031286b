/** A label version of a sample release, for both forms. */
import type { StatedAmount } from "./amounts.ts"
import { formatAmericanDate, formatIsoDate } from "./days.ts"
import type { Decimal } from "./decimals.ts"

export interface LoggedChange {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** The part that the update log of a newer version repeats. */
export interface Headline {
  readonly fdc_id: number
  readonly description: string
  /** Days since 2014-01-01, like all days here. */
  readonly published: number
  readonly changes: ReadonlyArray<LoggedChange>
}

/** An empty text is not on the label. */
export interface Label extends Headline {
  readonly short_description: string
  readonly brand_owner: string
  readonly brand_name: string
  readonly subbrand_name: string
  readonly gtin_upc: string
  readonly ingredients: string
  /** Only in the CSV form. */
  readonly not_a_significant_source_of: string
  /** Cleaned; zero if the label lacks it. */
  readonly serving: Decimal
  /** As published, sometimes with the rounding error of a 32-bit float. */
  readonly serving_size: string
  readonly serving_size_unit: string
  readonly household_serving_fulltext: string
  readonly category: string
  /** Whether the CSV has the category in `food.csv` instead of `branded_food.csv`. */
  readonly hasCategoryOnlyInFood: boolean
  readonly data_source: string
  readonly package_weight: string
  /** -1 if not stated. */
  readonly modified: number
  readonly available: number
  readonly discontinued: number
  readonly market_country: string
  readonly preparation_state_code: string
  readonly trade_channels: ReadonlyArray<string>
  readonly material_code: string
  /** This and the next two are only in the JSON form; 0 if not stated. */
  readonly gpc_class_code: number
  readonly caffeine_statement: string
  readonly footnote: string
  /** Whether `labelNutrients` of the JSON is empty although amounts are stated. */
  readonly omitsLabelNutrients: boolean
  /** Whether the CSV has the publication date as `M/D/YYYY`. */
  readonly hasAmericanDates: boolean
  readonly amounts: ReadonlyArray<StatedAmount>
}

export const formatDate = (day: number, isAmerican: boolean) => {
  if (day < 0) return ""
  return isAmerican ? formatAmericanDate(day) : formatIsoDate(day)
}
