/** Units of metrics: their tokens, their names in words, and how their values are aggregated. */
import { Schema } from "effect"

/** How the values of several periods become one: prices and percentages as their mean, pounds and counts as their sum. */
export const aggregations = ["mean", "sum"] as const
type Aggregation = (typeof aggregations)[number]

interface UnitFacts {
  readonly text: string
  readonly aggregation: Aggregation
}

export const units = {
  usd_per_lb: { text: "US dollars per pound", aggregation: "mean" },
  usd_per_cwt: { text: "US dollars per hundredweight", aggregation: "mean" },
  usd_per_metric_ton: { text: "US dollars per metric ton", aggregation: "mean" },
  usd_per_lb_basis: { text: "US dollars per pound above or below the exchange price", aggregation: "mean" },
  percent: { text: "percent", aggregation: "mean" },
  lb: { text: "pounds", aggregation: "sum" },
  count: { text: "count", aggregation: "sum" }
} as const satisfies Readonly<Record<string, UnitFacts>>

export type Unit = keyof typeof units
const names = Object.keys(units) as ReadonlyArray<Unit> // its keys are these names
export const Unit = Schema.Literals(names)
