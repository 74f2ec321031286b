/**
 * `npm run bench -- [api|foods] [--foods 450000,2000000]`: measures the bars on this machine and prints them as tables. Each
 * pair runs side by side in one run, in turns, and the medians are compared: ratios count, machines differ. The API takes
 * seven minutes, branded foods at their full sizes an hour and 20 GB in the temporary folder.
 */
import { parseArgs } from "node:util"
import { measureApi } from "./api.ts"
import { measureFoods } from "./foods/measure.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { foods: { type: "string", default: "450000,2000000" } }
})
const unknown = positionals.filter((part) => part !== "api" && part !== "foods")
const sizes = values.foods.split(",").map(Number)
if (unknown.length > 0 || sizes.some((size) => !Number.isSafeInteger(size) || size < 1000)) {
  console.error("Give one part or none, api or foods, and sizes of 1,000 foods or more: foods --foods 450000,2000000")
  process.exit(2)
}
const isAsked = (part: string) => positionals.length === 0 || positionals.includes(part)
if (isAsked("api")) await measureApi()
if (isAsked("foods")) await measureFoods(sizes)
