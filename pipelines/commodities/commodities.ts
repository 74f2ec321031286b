/** The commodities pipeline: government dairy reports of My Market News and Datamart. */
import { commodity } from "@larder/warehouse/tables.ts"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"
import { readCommodities } from "./read.ts"

export const commodities: Pipeline = {
  name: "commodities",
  dataSet: commodity,
  checks,
  samples: new URL("./samples/", import.meta.url),
  hosts: ["marsapi.ams.usda.gov", "mpr.datamart.ams.usda.gov"],
  read: readCommodities
}
