/** What comments of tables and columns claim, and how a test checks it over the bundled samples. */

/** How comments name the columns of keys, where the word is not the column's own name. */
export const nouns: Readonly<Record<string, string>> = {
  metric_name: "metric",
  observed_on: "day",
  value_text: "value",
  published_at: "publication time",
  revision_status: "status",
  realtime_start: "value",
  fdc_id: "label version",
  gtin_14: "barcode",
  nutrient_id: "nutrient",
  derivation_id: "derivation",
  slug: "series",
  store_id: "store",
  product_id: "product",
  collection_id: "collection",
  variant_id: "variant",
  run_id: "run",
  raw_sha256: "payload",
  url: "address",
  columns: "key and reference"
}
/** Comments that describe the whole key in words, without its columns. */
export const wholes: Readonly<Record<string, string>> = {
  "branded_food.current_food": "product",
  "commodity.product": "product",
  "ingest.freshness":
    "metric, per metric with final values, per form of the releases of branded foods, per other feed, per store, and per data set",
  "ingest.check_result": "run and check",
  "ingest.table_constraint": "key and reference of each table and view"
}

/** When a column is null, as its comment says it, and the same as SQL over its row. */
interface NullClaim {
  readonly columns: ReadonlyArray<string>
  /** The words of the comment after "null". */
  readonly claim: string
  readonly condition: string
  /** `if`: it is also null in other cases, which only the source knows. `only if`: it can also have a value. */
  readonly holds?: "if" | "only if"
}

export const nullClaims: ReadonlyArray<NullClaim> = [
  {
    columns: ["commodity.metric.first_observed_on", "commodity.metric.last_observed_on"],
    claim: "without readings",
    condition: "observations = 0"
  },
  { columns: ["commodity.metric.last_updated"], claim: "without values", condition: "observations = 0" },
  { columns: ["commodity.metric.no_values_reason"], claim: "if it has one", condition: "observations > 0" },
  {
    columns: ["commodity.observation.revision_status", "commodity.observation_version.revision_status"],
    claim: "for reports without a final section",
    condition:
      "metric_name not in (select metric_name from commodity.observation_version where revision_status = 'final')"
  },
  {
    columns: ["commodity.metric.final_publishes_on"],
    claim: "without `final_feed`",
    condition: "final_feed is null"
  },
  {
    columns: ["ingest.store_read", "ingest.live_store_read"].flatMap((table) => [
      `${table}.due_from`,
      `${table}.due_by`
    ]),
    claim: "for reads that an earlier version recorded",
    condition: "false"
  },
  { columns: ["commodity.series.spec"], claim: "for the milk classes", condition: "commodity = 'Milk'" },
  {
    columns: ["branded_food.current_food.is_discontinued", "branded_food.trade_item.is_discontinued"],
    claim: "if that day could not be read",
    condition: "discontinued_on is null and list_contains(quality_flags, 'discontinued_unreadable')"
  },
  ...["food", "current_food", "trade_item"].map((table) => ({
    columns: [`branded_food.${table}.earlier_versions`],
    claim: "if only the CSV release has the label",
    condition: "form = 'csv'"
  })),
  {
    columns: ["branded_food.version.replaced_by"],
    claim: "for the newest one",
    condition: "version = version_count"
  },
  { columns: ["ingest.live_run.rolled_back_by"], claim: "a run that was rolled back", condition: "true" },
  {
    columns: ["rows_read", "rows_loaded", "rows_unchanged", "rows_rejected"].map((name) => `ingest.run.${name}`),
    claim: "if the run failed or was interrupted",
    condition: "outcome in ('failed', 'interrupted')",
    holds: "only if"
  },
  { columns: ["ingest.generation.run_id"], claim: "for rollbacks and rebuilds", condition: "kind <> 'run'" },
  {
    columns: ["ingest.raw_file.content_type", "ingest.live_raw_file.content_type"],
    claim: "in recordings and bundled samples",
    condition: "origin <> 'live'"
  },
  {
    columns: ["ingest.table_constraint.referenced_table", "ingest.table_constraint.referenced_columns"],
    claim: "for a key",
    condition: "kind <> 'foreign key'"
  },
  { columns: ["ingest.freshness.feed"], claim: "for a data set", condition: "kind = 'data_set'" },
  {
    columns: ["storefront.product.price_min", "storefront.product.price_max"],
    claim: "if none has a price",
    condition: "len(list_filter(variants, lambda variant: variant.price is not null)) = 0"
  },
  {
    columns: ["storefront.listing.price_min", "storefront.listing.price_max"],
    claim: "if none has a price",
    condition: "product_id in (select product_id from storefront.product where price_min is null)"
  },
  {
    columns: ["storefront.product.category_evidence"],
    claim: "if nothing did",
    condition: "category_method = 'none'"
  },
  { columns: ["storefront.product_category.evidence"], claim: "if nothing did", condition: "method = 'none'" },
  { columns: ["storefront.sighting.last_seen_at"], claim: "while it is listed", condition: "is_listed" },
  {
    columns: ["price", "compare_at_price", "currency", "available"].map((name) => `storefront.variant_change.${name}`),
    claim: "and for `gone`",
    condition: "change = 'gone'",
    holds: "if"
  },
  {
    columns: ["storefront.variant.compare_at_price"],
    claim: "unless above `price`",
    condition: "not coalesce(compare_at_price > price, false)"
  },
  {
    columns: ["ingest.store_read.outcome_detail", "ingest.live_store_read.outcome_detail"],
    claim: "if nothing did",
    condition: "outcome = 'complete'"
  },
  { columns: ["storefront.store_status.outcome_detail"], claim: "if nothing did", condition: "outcome = 'complete'" }
]

/** The condition of rows that contradicts the claim. */
export const contradiction = (column: string, { condition, holds }: NullClaim): string => {
  if (holds === "if") return `(${condition}) and ${column} is not null`
  if (holds === "only if") return `${column} is null and not (${condition})`
  return `(${column} is null) is distinct from (${condition})`
}

/** Whether a comment says that its column can be null. */
export const saysNull = (comment: string) =>
  /\bnull\b/i.test(comment.replace(/so it is null|never null|null counts as a value|except null/g, ""))

/** Claims about what the source or the operator said, which no other column of the warehouse knows. */
export const isAboutTheSource = (claim: string): boolean =>
  [
    /^if (it|the (feed|file|source|payload|label|release|day|text)|that release|its feed|neither|none|unknown|there (is|was)|nothing|no |that day)/,
    /^if not /,
    /^for (any other unit|one that has not|other kinds|a rollback)/,
    /^if (all|each) /,
    /^without it/,
    /^if never/
  ].some((pattern) => pattern.test(claim))

/** Sentences about transformations, and the condition of a value that contradicts them. */
export const transformationClaims: ReadonlyArray<readonly [claim: string, contradiction: (column: string) => string]> =
  [
    ["Trimmed, with single spaces", (column) => `regexp_matches(${column}, '^\\s|\\s$|\\s\\s|""|\\[\\[|\\]\\]')`],
    ["In upper case.", (column) => `${column} <> upper(${column})`],
    ["Padded with zeros to 14 digits.", (column) => `not regexp_full_match(${column}, '[0-9]{14}')`],
    ["Each once, in alphabetical order.", (column) => `${column} <> list_sort(list_distinct(${column}))`],
    ["0 becomes null", (column) => `${column} = 0`],
    ["Without markup.", (column) => `regexp_matches(${column}, '</?(p|br|div|span|ul|li|strong)\\b')`],
    ["rounded half to even to three significant digits.", (column) => `${column} <> printf('%.3g', ${column})::double`]
  ]

/** Other sentences of comments, each with a query that counts the rows that contradict it. */
export const otherClaims: ReadonlyArray<{ readonly column: string; readonly claim: string; readonly rows: string }> = [
  {
    column: "branded_food.food.available_on",
    claim: "it is `published_on` for some labels and `modified_on` for others",
    rows: "from branded_food.food where available_on not in (published_on, coalesce(modified_on, published_on))"
  },
  ...["label_calories", "label_sodium", "gpc_class_code"].map((name) => ({
    column: `branded_food.food.${name}`,
    claim:
      name === "gpc_class_code"
        ? "Stated only by manufacturers that publish through GDSN"
        : "Only the JSON release states it",
    rows:
      name === "gpc_class_code"
        ? `from branded_food.food where ${name} is not null and not contains(data_source, 'GDSN')`
        : `from branded_food.food where ${name} is not null and form = 'csv'`
  })),
  ...["daily_values", "not_a_significant_source_of"].map((name) => ({
    column: `branded_food.food.${name}`,
    claim: "Only ",
    rows: `from branded_food.food where ${name} is not null and form = 'json'`
  })),
  {
    column: "commodity.metric.aggregation",
    claim: "prices and percentages as their unweighted `mean`, pounds and counts as their `sum`",
    rows: "from commodity.metric where (aggregation = 'sum') <> (unit in ('lb', 'count'))"
  },
  {
    column: "ingest.live_run.outcome",
    claim: "Runs with another outcome are not in this view",
    rows: "from ingest.live_run where outcome not in ('published', 'unchanged', 'partial')"
  },
  {
    column: "storefront.product.category_method",
    claim: "`none` for uncategorized products",
    rows: "from storefront.product where (category = 'uncategorized') <> (category_method = 'none')"
  }
]
