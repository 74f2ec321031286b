/** Every pipeline, in the order in which `larder-ingest all` runs them. */
import { brandedFoods } from "./branded-foods/branded-foods.ts"
import { commodities } from "./commodities/commodities.ts"
import type { Pipeline } from "./run/pipeline.ts"
import { storefronts } from "./storefronts/storefronts.ts"

export const pipelines: ReadonlyArray<Pipeline> = [commodities, brandedFoods, storefronts]
