/** The commodities pipeline: government dairy reports of My Market News and Datamart. */
import { commodity } from "@larder/warehouse"
import { Effect } from "effect"
import type { Pipeline, RunSource } from "../run/pipeline.ts"
import { commodityChecks } from "./checks.ts"
import { commodityMappingVersion } from "./mapping-version.ts"
import { marsKey } from "./source/requests.ts"

const missingKeyWarning =
  "MARS_API_KEY is not set: the reports of My Market News are left out. A key is free at https://mymarketnews.ams.usda.gov."

/** Checks the operator's catalog, if there is one. Fetches nothing. */
export const checkCatalog = Effect.gen(function* () {
  const inForce = yield* Effect.promise(() => import("./catalog/in-force.ts"))
  if ((yield* inForce.ownFolder) !== undefined) yield* inForce.loadCatalog
})

const preflight = Effect.fnUntraced(function* ({ kind }: RunSource) {
  yield* checkCatalog
  const key = yield* marsKey
  return kind === "live" && key === undefined ? { missing: missingKeyWarning } : {}
})

export const commodities: Pipeline = {
  name: "commodities",
  dataSet: commodity,
  mappingVersion: commodityMappingVersion,
  rowNoun: "prices",
  acceptsDays: true,
  rebuildRepeatsEmptyRuns: true,
  checks: commodityChecks,
  samples: new URL("./samples/", import.meta.url),
  recordingFolders: ["marsapi.ams.usda.gov", "mpr.datamart.ams.usda.gov"],
  preflight,
  describeRebuildLoss: (layout) =>
    Effect.flatMap(
      Effect.promise(() => import("./stage/inactive.ts")),
      (inactive) => inactive.describeRebuildLoss(layout)
    ),
  read: (context) =>
    Effect.flatMap(
      Effect.promise(() => import("./read.ts")),
      (read) => read.readCommodities(context)
    )
}
