/** The storefronts pipeline: stores, products and collections out of the feeds of a list of shops. */
import { storefront } from "@larder/warehouse/tables.ts"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"
import { storeRequests } from "./crawl/policy.ts"
import { preflight } from "./preflight.ts"
import { readStorefronts } from "./read.ts"

export const storefronts: Pipeline = {
  name: "storefronts",
  dataSet: storefront,
  holds: "stores",
  repeatsReads: true,
  checks,
  samples: new URL("./samples/", import.meta.url),
  hosts: ["stores.json"], // the list of a recording stands in for its hosts, which only it knows
  requests: storeRequests,
  lists: true,
  goesOn: true,
  preflight,
  read: readStorefronts
}
