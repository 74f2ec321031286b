/** The storefronts pipeline: reads products and collections from the feeds of the stores of a list. */
import { storefront } from "@larder/warehouse"
import { Effect } from "effect"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"
import { storeRequests } from "./source/crawl/policy.ts"

export const storefronts: Pipeline = {
  name: "storefronts",
  dataSet: storefront,
  holds: "stores",
  repeatsReads: true,
  checks,
  samples: new URL("./samples/", import.meta.url),
  hosts: ["stores.json"], // only the store list knows the hosts of a recording, so the list represents them
  requests: storeRequests,
  lists: true,
  resumesRuns: true,
  preflight: (source) =>
    Effect.flatMap(
      Effect.promise(() => import("./source/preflight.ts")),
      ({ preflight }) => preflight(source)
    ),
  read: (context) =>
    Effect.flatMap(
      Effect.promise(() => import("./read.ts")),
      (read) => read.readStorefronts(context)
    )
}
