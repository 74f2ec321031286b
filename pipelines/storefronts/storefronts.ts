/** The storefronts pipeline: stores, products and collections out of the feeds of a list of shops. */
import { storefront } from "@larder/warehouse/tables.ts"
import { Effect } from "effect"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"
import { storeRequests } from "./crawl/policy.ts"

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
  preflight: (source) =>
    Effect.flatMap(
      Effect.promise(() => import("./preflight.ts")),
      ({ preflight }) => preflight(source)
    ),
  read: (context) =>
    Effect.flatMap(
      Effect.promise(() => import("./read.ts")),
      (read) => read.readStorefronts(context)
    )
}
