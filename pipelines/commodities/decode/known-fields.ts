/**
 * Fields that the two services are known to send in addition to the mapped ones. Any other field is recorded in
 * `ingest.unknown_field` and logged as a warning: upstream has added something that may be worth a metric.
 */

const ofBoth = [
  "report_title",
  "slug_name",
  "slug_id",
  "office_name",
  "office_code",
  "office_city",
  "office_state",
  "market_location_name",
  "market_location_city",
  "market_location_state",
  "market_type",
  "market_type_category",
  "published_date",
  "report_month",
  "report_year"
]

const ofMars = [
  "report_date",
  "report_begin_date",
  "report_end_date",
  "commodity",
  "package",
  "grade",
  "other_grades",
  "quality",
  "application",
  "lot_desc",
  "region",
  "community",
  "category",
  "group",
  "price_unit",
  "price_min",
  "price_max",
  "mostly_low_price",
  "mostly_high_price",
  "report_narrative",
  "final_ind",
  "special_notes",
  "close_price",
  "weekly av",
  "change",
  "bids",
  "offers",
  "sales",
  "monthly av"
]

const ofMpr = [
  "week_ending_date",
  "week ending date",
  "created_date",
  "narrative",
  "butter_price",
  "butter_sales",
  "cheese_40_price",
  "cheese_40_sales",
  "cheese_500_price",
  "cheese_500_wtd_price",
  "cheese_500_sales",
  "cheese_500_wtd_mst",
  "whey_price",
  "whey_sales",
  "nonfat_milk_price",
  "nonfat_milk_sales",
  "class_2_price",
  "class_3_price",
  "class_4_price",
  "class_4_skim_milk_price",
  "butterfat_price",
  "butter_monthly_avg_price",
  "cheese_monthly_avg_price",
  "nfdm_monthly_avg_price",
  "whey_monthly_avg_price",
  "class_2_skim_milk_price",
  "class_2_butterfat_price",
  "class_2_nonfat_solids_price",
  "class_3_skim_milk_price",
  "protein_price",
  "other_solids_price",
  "nonfat_solids_price",
  "class_1_skim_milk_price",
  "class_1_butterfat_price",
  "advanced_class_3_skim_milk_price",
  "advanced_class_4_skim_milk_price",
  "advanced_butterfat_price",
  "esl_adjustment_price",
  "butter_two_week_avg_price",
  "cheese_two_week_avg_price",
  "nfdm_two_week_avg_price",
  "whey_two_week_avg_price"
]

const known = { "gov-mars": new Set([...ofBoth, ...ofMars]), "gov-mpr": new Set([...ofBoth, ...ofMpr]) }

/** Names in lower case. */
export const knownFields = (source: "gov-mars" | "gov-mpr"): ReadonlySet<string> => known[source]
