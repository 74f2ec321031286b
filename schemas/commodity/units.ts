/** Units of metrics, as tokens and in words. */
import { Schema } from "effect"

export const unitTexts = {
  usd_per_lb: "US dollars per pound",
  usd_per_cwt: "US dollars per hundredweight",
  usd_per_metric_ton: "US dollars per metric ton",
  usd_per_lb_basis: "US dollars per pound above or below the exchange price"
} as const

export type Unit = keyof typeof unitTexts
export const units = Object.keys(unitTexts) as ReadonlyArray<Unit> // its keys are these names
export const Unit = Schema.Literals(units)
