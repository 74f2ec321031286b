/** The branded-foods pipeline: packaged-food labels of USDA FoodData Central, whole releases in either form. */
import { brandedFood } from "@larder/warehouse"
import { Effect } from "effect"
import type { Pipeline } from "../run/pipeline.ts"
import { brandedFoodChecks } from "./checks.ts"
import { labelMappingVersion } from "./mapping-version.ts"

export const brandedFoods: Pipeline = {
  name: "branded-foods",
  dataSet: brandedFood,
  mappingVersion: labelMappingVersion,
  rowNoun: "labels",
  checks: brandedFoodChecks,
  samples: new URL("./samples/", import.meta.url),
  recordingFolders: ["fdc.nal.usda.gov"],
  acceptsFile: true,
  read: (context) =>
    Effect.flatMap(
      Effect.promise(() => import("./read.ts")),
      (read) => read.readBrandedFoods(context)
    )
}
