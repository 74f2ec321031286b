/** Tables of the warehouse schema `commodity`. Catalog rows come from the mapping, versions of observations from the reports. */
import { Schema, Struct } from "effect"
import { described, inUnit, listCodes, payload, refersTo, transformed } from "../described.ts"
import { marketLevels, regions } from "./places.ts"
import { CommodityProduct, Licence, Metric, revisionStatuses, Series } from "./records.ts"
import { Printed } from "./schedule.ts"
import { aggregations, Unit } from "./units.ts"

const { metrics: _, ...product } = CommodityProduct.fields

export const CommodityProductRow = Schema.Struct(product).annotate({
  identifier: "commodity.product",
  description: "One row per product of the paged catalog."
})

const { metric_name, measure, freight, frequency, source, first_observed_on, last_observed_on } = Metric.fields

const ofVersions = "Computed from `commodity.observation_version` after every run."

export const MetricRow = Schema.Struct({
  metric_name,
  title: described.text("What the metric is, in words: unique.", "Butter, exchange spot, weekly average"),
  notes: described.textOrNull("What a user must know about its values; null if there is nothing to say."),
  measure,
  unit: Unit.annotate({
    description: "Unit of its values. `usd_per_lb_basis` is a difference from the exchange price, not a price."
  }),
  unit_text: described.text("The unit in words.", "US dollars per pound"),
  aggregation: described.oneOf(
    aggregations,
    "How `commodity.weekly` and `commodity.monthly` combine its values, which follows from the unit: prices and percentages as their unweighted `mean`, pounds and counts as their `sum`."
  ),
  region: described.text(`Where the price applies: in the bundled catalog ${listCodes(regions)}.`),
  market_level: described.text(
    `Level of trade at which the price is taken: in the bundled catalog ${listCodes(marketLevels)}.`
  ),
  freight,
  frequency,
  frequency_text: described.text(
    "The frequency in words, with the weekday on which weekly and biweekly periods end.",
    "Daily",
    "Weekly, ending Saturday"
  ),
  publishes_on: described.text(
    "By when its report usually publishes the value of a period, in America/New_York. `the next week` is the one after the week, Monday to Sunday, in which the period ends; `the month before` is the one before the month in which it ends. A report that prints the value in some months only names them. Of provisional and final values, the provisional ones: see `final_publishes_on`.",
    "every working day, 11:00",
    "Wednesday of the next week, 13:15",
    "day 23 of the month before, 13:15",
    "day 5 of the next month, 13:15, for January and July"
  ),
  printed: Printed.annotate({
    description:
      "Whether the report prints the number for every period: `always`, or `sometimes`, such as a mostly range."
  }),
  seasonal_adjustment: described.text(
    "Whether a seasonal pattern was removed: `Not seasonally adjusted` for every metric."
  ),
  source,
  product_slug: refersTo("commodity.product.slug", described.text("Product of the metric.")),
  report: described.text("Title of the publishing report."),
  feed: described.text("Report and section from which the metric is read, such as `gov-mars/1603`."),
  final_feed: described.textOrNull(
    "Section from which its final values are read; null if its report has no section of final values beside `feed`."
  ),
  final_publishes_on: described.textOrNull(
    "By when its report usually publishes the final value of a period, as in `publishes_on`; null without `final_feed`.",
    "Wednesday of the week 5 weeks later, 13:15"
  ),
  licence: Licence.annotate({
    description:
      "Rights in its values: `public_domain` for data of the US government, `cme_group` for prices of CME Group's exchange that a report repeats. `LARDER_WITHHELD_LICENCES` withholds metrics with a given licence from the API."
  }),
  ended_on: described.dayOrNull("Day of the last value of a series that has ended; null for one that has not."),
  first_observed_on: transformed(ofVersions, first_observed_on),
  last_observed_on: transformed(ofVersions, last_observed_on),
  last_updated: transformed(
    ofVersions,
    described.timeOrNull(
      "When its newest value was published, or an older one revised or repeated, in the report's local time: US time without a zone. If the report states no time, the end of a day, as in `commodity.observation_version.published_at`. Null without values."
    )
  ),
  observations: transformed(ofVersions, described.integer("Number of days with a value.")),
  publications: transformed(
    ofVersions,
    described.integer("Number of values that were published for these days, including repetitions and revisions.")
  ),
  no_values_reason: described.textOrNull("Why it has no value; null if it has one.")
}).annotate({
  identifier: "commodity.metric",
  description:
    "One row per metric: a number of one product that a report publishes over time. Each of the 24 series is also a metric."
})

export const SeriesRow = Schema.Struct({
  slug: Series.fields.slug,
  metric_name: refersTo("commodity.metric.metric_name", described.text("The metric with the same values.")),
  commodity: described.text("Group in the catalog: Butter, Cheese, Nonfat Dry Milk, Dry Whey, Milk."),
  ...Struct.pick(Series.fields, ["spec", "market", "unit"]),
  position: described.integer("Position of the series in the catalog, from 1.")
}).annotate({
  identifier: "commodity.series",
  description: "One row per series of the 24 curated ones in the grouped catalog."
})

export const InactiveRow = Schema.Struct({
  subject: described.text(
    "A metric, as in `commodity.metric.metric_name`, or a feed.",
    "dry_whey_europe_price_min_biweekly",
    "gov-mars/1034"
  ),
  kind: Schema.Literals(["feed", "metric"]).annotate({ description: "What the subject is." }),
  why: described.text("Why no run reads it.")
}).annotate({
  identifier: "commodity.inactive",
  description:
    "One row per subject that runs no longer read: a metric or a feed that the operator's own catalog switches off, or whose line is gone. Its published values stay. `ingest.freshness` shows it as `ended`, never as late."
})

export const ObservationVersion = Schema.Struct({
  metric_name: refersTo("commodity.metric.metric_name", described.text("Metric that was published.")),
  observed_on: transformed(
    "Weekly values of regional reports are dated by the Friday of the week in which the report's period begins, whatever day it prints as the end.",
    described.text(
      "Day of the reading: trading day, week-ending day, period end of biweekly reports, or first day of the priced month or year."
    )
  ),
  value: transformed(
    "Six decimal places, whatever the report prints.",
    inUnit("`commodity.metric.unit`", described.text("The published number, in the unit of its metric."))
  ),
  value_text: described.text("The published number with its digits as printed, which the API returns."),
  published_at: transformed(
    "If the row has only a day, the end of that day. If it has neither, a microsecond before the end of the newest day in the row: the value may have been published later, and `commodity.observation_as_of` shows it from the time when its payload was fetched.",
    described.text("When the report published this value, in the report's local time: US time without a zone.")
  ),
  revision_status: Schema.NullOr(Schema.Literals(revisionStatuses)).annotate({
    description:
      "`final` in a section whose values are no longer restated, `provisional` in the section beside it; null for reports without a final section, which may restate any value."
  }),
  freight: described.textOrNull(
    "Who pays for the transport, as the row states it, such as `Delivered`; null if it is silent."
  ),
  run_id: refersTo("ingest.run.run_id", described.text("Run that loaded the value.")),
  raw_sha256: payload("Payload with the value"),
  fetched_at: described.text("When that payload was fetched, in UTC."),
  source_row: described.integer("Row in that payload, counted from 1.")
}).annotate({
  identifier: "commodity.observation_version",
  description:
    "One row per metric, day, published value, publication time and status: every value that a report has ever published, including revisions. Rows are only added."
})

export const Observation = Schema.Struct({
  ...Struct.pick(ObservationVersion.fields, ["metric_name", "observed_on"]),
  period_start: transformed(
    "Computed: Sunday of a week that ends on Saturday, Monday of one that ends on Friday, and the first of the 14 days of a biweekly value.",
    described.day("First day of the period of the value.")
  ),
  period_end: transformed(
    "Computed: the last day of the month or year of a monthly or annual value, and `observed_on` of any other.",
    described.day("Last day of that period, included.")
  ),
  ...Struct.pick(ObservationVersion.fields, ["value", "value_text"]),
  first_published_at: transformed(
    "For a row without a time see `commodity.observation_version.published_at`: `commodity.vintage` counts it from its fetch.",
    described.text(
      "When a report first published this value, after any other one for this day; in the report's local time: US time without a zone."
    )
  ),
  last_published_at: described.text(
    "When a report last repeated this value, in the report's local time: US time without a zone."
  ),
  revision_status: ObservationVersion.fields.revision_status,
  distinct_values: transformed(
    "Computed from `commodity.observation_version`.",
    described.integer("Number of different values that were published for this day.")
  )
}).annotate({
  identifier: "commodity.observation",
  description:
    "One row per metric and day: its current value. A final value takes precedence over a provisional one, then the newest publication counts. `commodity.observation_as_of(moment)` gives the values as of a day, or as of a time in the local time of the reports; `commodity.vintage` gives all values with the days on which they were current."
})

const ofTimes =
  "Computed from the times of publication, or of the fetch of a row without a time, of all values of the day."

export const Vintage = Schema.Struct({
  ...Struct.pick(ObservationVersion.fields, ["metric_name", "observed_on", "value"]),
  realtime_start: transformed(
    ofTimes,
    described.day("First day at whose end this was the value that had been published.")
  ),
  realtime_end: transformed(ofTimes, described.day("Last such day; 9999-12-31 for the current value."))
}).annotate({
  identifier: "commodity.vintage",
  description:
    "One row per metric, day and value that was current at the end of some day, as ALFRED shows it: for any day, the row with `realtime_start` and `realtime_end` around it is the row of `commodity.observation_as_of` that day. Of several values published on one day, the last counts."
})
