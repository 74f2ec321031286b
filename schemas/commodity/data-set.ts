/** The data set as the API presents it. */
import type { ApiDataSet } from "../data-set.ts"
import { commodityEndpoints } from "./endpoints.ts"

export const commodities = {
  pipeline: "commodities",
  tag: "Commodities",
  holds: "commodity prices",
  origin: "dairy commodity prices of US government reports",
  about: `Dairy prices that US government reports publish: butter, cheese, nonfat dry milk, dry whey and the milk classes as 24 curated series, and these series, together with regional and international reports, as metrics.

Source: the US Department of Agriculture, through My Market News (\`gov-mars\`) and Datamart (\`gov-mpr\`). Spot prices are published every trading day, survey and regional reports every week or two, milk classes every month. Reports restate earlier weeks: a revised number replaces the old one. Days without a reading are left out, never filled. A \`usd_per_lb_basis\` is a difference from the exchange price, not a price.`,
  firstCall: "commodities/prices?series=cheese-block-sales-price-weekly&from=2026-08-01",
  scopes: ["search-commodities", "get-commodity-prices"],
  endpoints: commodityEndpoints
} as const satisfies ApiDataSet
