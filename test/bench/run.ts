/**
 * `npm run bench -- [api|fairness|console|foods|storefronts|rounds|shared] [--entries 10000000] [--foods 450000,2000000] [--products
 * 100000,1000000] [--stores 1000]`: measures the bars on this machine and prints them as tables. Each pair runs side by side in one run, in
 * turns, and the medians are compared: ratios count, machines differ. The API takes seven minutes, fairness five, the console ten, branded
 * foods at their full sizes an hour and a half and 30 GB in the temporary folder, storefronts at theirs 8 GB, rounds of a
 * thousand stores three minutes, and what machines share at the full sizes an hour.
 */
import { parseArgs } from "node:util"
import { measureApi } from "./api.ts"
import { measureConsole } from "./console.ts"
import { measureFairness } from "./fairness.ts"
import { measureFoods } from "./foods/measure.ts"
import { measureShared } from "./shared.ts"
import { measureStorefronts } from "./storefronts/measure.ts"
import { measureRounds } from "./storefronts/rounds.ts"

const parts = ["api", "fairness", "console", "foods", "storefronts", "rounds", "shared"]
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    entries: { type: "string", default: "10000000" },
    foods: { type: "string", default: "450000,2000000" },
    products: { type: "string", default: "100000,1000000" },
    stores: { type: "string", default: "1000" }
  }
})
const sizesIn = (list: string) => list.split(",").map(Number)
const [entries, foods, products] = [sizesIn(values.entries), sizesIn(values.foods), sizesIn(values.products)]
const stores = Number(values.stores)
const unknown = positionals.filter((part) => !parts.includes(part))
if (
  unknown.length > 0 ||
  !(Number.isSafeInteger(stores) && stores > 0) ||
  [...entries, ...foods, ...products].some((size) => !Number.isSafeInteger(size) || size < 1000)
) {
  console.error(
    "Give one part or none, api, fairness, console, foods, storefronts, rounds or shared, and sizes of 1,000 or more: foods --foods 450000,2000000"
  )
  process.exit(2)
}
const isAsked = (part: string) => positionals.length === 0 || positionals.includes(part)
if (isAsked("api")) await measureApi()
if (isAsked("fairness")) await measureFairness()
if (isAsked("console")) for (const size of entries) await measureConsole(size)
if (isAsked("foods")) await measureFoods(foods)
if (isAsked("storefronts")) await measureStorefronts(products)
if (isAsked("rounds")) await measureRounds(stores)
if (isAsked("shared")) await measureShared(foods, products)
