/** The real slice of a CSV release of branded foods, which is not part of the repository. */
import { cpSync, mkdirSync } from "node:fs"
import path from "node:path"
import { samplesOf } from "../support/shared-samples.ts"

export const sample = (name: string) => path.join(samplesOf("fdc"), name)
const sliceFiles = [
  ["branded_food.csv", "branded_food.csv"],
  ["food_other.csv", "food.csv"],
  ["food_nutrient.csv", "food_nutrient.csv"]
] as const

/** Makes a release of three files in a new folder, and returns the folder. */
export const copySlice = (folder: string) => {
  mkdirSync(folder)
  for (const [from, to] of sliceFiles) cpSync(sample(`slice-2023-10/${from}`), path.join(folder, to))
  return folder
}
