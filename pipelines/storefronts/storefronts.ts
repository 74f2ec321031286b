/** The storefronts pipeline: reads products and collections from the feeds of listed stores. */
import { storefront } from "@larder/warehouse"
import { Effect } from "effect"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"
import { mappingVersion } from "./mapping-version.ts"
import { storeLivePolicy } from "./source/crawl/policy.ts"

export const storefronts: Pipeline = {
  name: "storefronts",
  dataSet: storefront,
  mappingVersion,
  rowNoun: "stores",
  rebuildRepeatsEmptyRuns: true,
  checks,
  samples: new URL("./samples/", import.meta.url),
  recordingFolders: ["stores.json"], // hosts differ from list to list, so the list itself marks a recording
  livePolicy: storeLivePolicy,
  acceptsStoreList: true,
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
