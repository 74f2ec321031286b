/**
 * `npm run bench -- [api|fairness|console|foods|storefronts|rounds|shared|growth] [--entries 10000000] [--foods 450000,2000000]
 * [--products 100000,1000000] [--stores 1000] [--against FOLDER] [--quick]` measures the bars on this machine and prints them
 * as tables. Each pair runs in turns in one run, and medians are compared. Compare the ratios, because machines differ. With
 * `--against`, api, foods and storefronts compare this checkout with the one in that folder instead. With the default
 * sizes, the API takes eight minutes, fairness four, the console ten, branded foods 90, rounds three, shared depots an
 * hour, and growth 20 minutes. Branded foods need 30 GB in the temporary folder, and storefronts 8 GB. With `--quick`, sizes are small and
 * nothing is repeated: the ratios mean nothing.
 */
import { parseArgs } from "node:util"
import { findCheckouts } from "./against.ts"
import { compareApi, measureApi } from "./api.ts"
import { measureConsole } from "./console.ts"
import { isQuick } from "./effort.ts"
import { measureFairness } from "./fairness.ts"
import { compareFoods } from "./foods/against.ts"
import { measureFoods } from "./foods/measure.ts"
import { measureGrowths } from "./growth.ts"
import { measureShared } from "./shared.ts"
import { compareStorefronts, measureStorefronts } from "./storefronts/measure.ts"
import { measureRounds } from "./storefronts/rounds.ts"

const parts = ["api", "fairness", "console", "foods", "storefronts", "rounds", "shared", "growth"]
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    entries: { type: "string", default: isQuick ? "1000" : "10000000" },
    foods: { type: "string", default: isQuick ? "1000" : "450000,2000000" },
    products: { type: "string", default: isQuick ? "1000" : "100000,1000000" },
    stores: { type: "string", default: isQuick ? "2" : "1000" },
    against: { type: "string" },
    quick: { type: "boolean" }
  }
})
const parseSizes = (list: string) => list.split(",").map(Number)
const [entries, foods, products] = [parseSizes(values.entries), parseSizes(values.foods), parseSizes(values.products)]
const stores = Number(values.stores)
const unknown = positionals.filter((part) => !parts.includes(part))
if (
  unknown.length > 0 ||
  !(Number.isSafeInteger(stores) && stores > 0) ||
  [...entries, ...foods, ...products].some((size) => !Number.isSafeInteger(size) || size < 1000)
) {
  console.error(
    "Name one or more of api, fairness, console, foods, storefronts, rounds, shared and growth, or omit them to run all. Sizes are 1,000 or more: foods --foods 450000,2000000"
  )
  process.exit(2)
}
const isRequested = (part: string) => positionals.length === 0 || positionals.includes(part)
if (values.against === undefined) {
  if (isRequested("api")) await measureApi()
  if (isRequested("fairness")) await measureFairness()
  if (isRequested("console")) for (const size of entries) await measureConsole(size)
  if (isRequested("foods")) await measureFoods(foods)
  if (isRequested("storefronts")) await measureStorefronts(products)
  if (isRequested("rounds")) await measureRounds(stores)
  if (isRequested("shared")) await measureShared(foods, products)
  if (isRequested("growth")) await measureGrowths()
} else {
  const checkouts = findCheckouts(values.against)
  if (isRequested("api")) await compareApi(checkouts)
  if (isRequested("foods")) await compareFoods(checkouts, foods)
  if (isRequested("storefronts")) await compareStorefronts(checkouts, products)
}
