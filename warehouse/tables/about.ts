/** The texts of `ingest.data_set` for each data set. Its other columns come from runs and rows. */

export interface About {
  /** Pipeline that publishes the data set. */
  readonly pipeline: string
  readonly title: string
  readonly description: string
  /** Licence of rows from the source itself. */
  readonly licence: string
  readonly attribution: string
  /** Null if there are several, which are then in the data set's own tables. */
  readonly source_url: string | null
  /** The table with the newest day of the data set, and that day as an SQL expression. */
  readonly newest: { readonly table: string; readonly day: string }
  /** Days after which a read of the source is late: twice the interval between its runs, so that one run may fail. */
  readonly late_after_days: number
}

export const aboutCommodities: About = {
  pipeline: "commodities",
  title: "Commodities",
  description: "Dairy prices of US government reports: My Market News and Datamart.",
  licence:
    "Public domain (US government), except metrics that belong to an exchange: `commodity.metric.licence` says which.",
  attribution: "USDA Agricultural Marketing Service",
  source_url: "https://mymarketnews.ams.usda.gov",
  newest: { table: "commodity.price_version", day: "max(observed_on)" },
  late_after_days: 2
}

export const aboutBrandedFoods: About = {
  pipeline: "branded-foods",
  title: "Branded foods",
  description: "Labels of packaged foods of USDA FoodData Central.",
  licence: "CC0 1.0",
  attribution: "USDA FoodData Central",
  source_url: "https://fdc.nal.usda.gov",
  newest: { table: "branded_food.food", day: "max(release_on)" },
  late_after_days: 14
}

export const aboutStorefronts: About = {
  pipeline: "storefronts",
  title: "Storefronts",
  description: "Products of online stores, from their public feeds.",
  licence: "Texts, pictures and prices are the stores'; their terms apply.",
  attribution: "Each store, by its name and domain in `storefront.store`",
  source_url: null,
  newest: { table: "ingest.live_store_read", day: "(max(read_at) filter (fetch_status <> 'failed'))::date" },
  late_after_days: 2
}

/**
 * Texts of a data set with bundled samples. They precede those of the source, which then hold for the values that are
 * not generated.
 */
export const aboutSamples = {
  description: "Bundled samples: most values are generated. Use none as market data.",
  licence: "Generated values: MIT. All others:",
  attribution: "Generated values: Larder's bundled samples, in the format of the source. All others:"
} as const
