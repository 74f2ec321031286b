/** Commodity records as the API returns them. Prices are published decimals: JSON numbers with their printed digits. */
import { Schema, Struct } from "effect"
import { described } from "../described.ts"

export const Frequency = Schema.Literals(["daily", "weekly", "biweekly", "monthly", "annual"])
export type Frequency = typeof Frequency.Type

const CommoditySource = described.oneOf(
  ["gov-mars", "gov-mpr"],
  "Government service that publishes the report: My Market News (gov-mars) or Datamart (gov-mpr)."
)

/** The owner of a published number: the US government, or the exchange whose prices a report repeats. */
export const licences = ["public_domain", "cme_group"] as const
export const Licence = Schema.Literals(licences)
export type Licence = typeof Licence.Type

/** Whether a report states a value as final. Null for metrics of reports that have no section of final values. */
export const revisionStatuses = ["provisional", "final"] as const
export type RevisionStatus = (typeof revisionStatuses)[number]

const observedOn = {
  first_observed_on: described.dayOrNull("Date of the earliest reading; null without readings."),
  last_observed_on: described.dayOrNull("Date of the latest reading; null without readings.")
}

export const Series = Schema.Struct({
  slug: described.text(
    "Permanent, readable id of the series; passed to the prices endpoint.",
    "butter-sales-price-weekly"
  ),
  spec: described.textOrNull(
    "Grade or package as the report states it; null for the milk classes, which have none.",
    "Grade AA"
  ),
  market: described.text("Where the price is formed.", "Chicago Mercantile Exchange"),
  measure: described.text("The report's own name for the number.", "close_price"),
  unit: described.oneOf(["USD/lb", "USD/cwt"], "US dollars per pound, or per hundred pounds (hundredweight)."),
  frequency: described.oneOf(
    ["daily", "weekly", "monthly"],
    "Daily readings are dated by trading day, weekly by the week-ending day, monthly by the month's first day."
  ),
  source: CommoditySource,
  report: described.text("Title of the publishing report."),
  ...observedOn
}).annotate({ identifier: "CommoditySeries", description: "One number that a report publishes over time." })

export const SeriesGroup = Schema.Struct({
  commodity: described.text("Commodity name; one commodity may have several series."),
  series: Schema.Array(Series).annotate({ description: "Its series, in the catalog's order." })
}).annotate({ identifier: "CommodityGroup", description: "The series of one commodity." })

export const Point = Schema.Struct({
  date: described.day("Reading date."),
  value: described.number("The published number, unrounded, with all its decimal places.")
}).annotate({ identifier: "Point", description: "One reading." })

export const PriceResult = Schema.Struct({
  slug: described.text("The requested series."),
  unit: Series.fields.unit,
  points: Schema.Array(Point).annotate({
    description: "Readings in ascending date order; days without a reading are absent."
  })
}).annotate({ identifier: "CommodityPrices", description: "The readings of one series." })

export const Metric = Schema.Struct({
  metric_name: described.text(
    "Permanent id of the metric, lowercase snake_case; passed to the metric-values endpoint.",
    "butter_sales_price_weekly"
  ),
  measure: described.text("The report's own name for the number."),
  unit: described.text(
    "Unit token. `usd_per_lb_basis` is a difference from the exchange price, not a price.",
    "usd_per_lb",
    "usd_per_cwt",
    "usd_per_metric_ton",
    "usd_per_lb_basis"
  ),
  region: described.text("Where the price applies.", "united_states", "us_central", "oceania"),
  market_level: described.text("Level of trade at which the price is taken.", "wholesale"),
  freight: described.text("Freight terms; `not_stated` if the report does not state them."),
  frequency: Frequency.annotate({ description: "How often the report publishes the number." }),
  source: CommoditySource,
  ...observedOn
}).annotate({ identifier: "CommodityMetric", description: "One number of one commodity product." })

export const CommodityProduct = Schema.Struct({
  slug: described.text("Product id."),
  category: described.text("Slash-separated category path.", "dairy/butter"),
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])).annotate({
    description: "What distinguishes the product: grade, package, form."
  }),
  details: Schema.Record(Schema.String, Schema.String).annotate({ description: "Further facts, in words." }),
  metrics: Schema.Array(Metric).annotate({ description: "Every metric of the product." })
}).annotate({ identifier: "CommodityProduct", description: "A product and the metrics published about it." })

/**
 * A group or a product as one record, for the OpenAPI document. Client generators for Java and Rust read only one of
 * two alternatives. The types that they generate for values that are strings or lists of strings do not compile, or
 * are empty.
 */
export const CatalogEntry = Schema.Struct({
  ...SeriesGroup.mapFields(Struct.map(Schema.optionalKey)).fields,
  ...CommodityProduct.mapFields(Struct.map(Schema.optionalKey)).fields,
  attributes: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Unknown).annotate({
      description: "What distinguishes the product: grade, package, form. Each value is a string or a list of strings."
    })
  )
}).annotate({
  identifier: "CommodityCatalogEntry",
  description:
    "In the grouped shape, a commodity with `commodity` and `series`; in the paged shape, a product with all other fields. Each has all of its own fields and none of the other's."
})

export const MetricValues = Schema.Struct({
  metric_name: described.text("The requested metric."),
  unit: Metric.fields.unit,
  from: described.dayOrNull(
    "First day of the effective range; null if none was requested and the metric has no values."
  ),
  to: described.dayOrNull("Last day of the effective range; null if none was requested and the metric has no values."),
  points: Schema.Array(Point).annotate({ description: "Readings in ascending date order." })
}).annotate({ identifier: "CommodityMetricValues", description: "The readings of one metric." })
