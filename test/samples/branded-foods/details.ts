/** Draws the details of a label version: serving, package, days, and fields that only some labels have. */
import { type Chance, Weighted } from "./chance.ts"
import type { Plan } from "./plan.ts"
import { drawServing, drawUnit, households, weights } from "./servings.ts"
import type { Shelf } from "./shelves.ts"

const preparations = new Weighted<string>([
  ["UNPREPARED", 173],
  ["PREPARED", 23],
  ["READY_TO_DRINK", 17],
  ["READY_TO_EAT", 13],
  ["BAKE", 5],
  ["GRILL", 1]
])
const channels = new Weighted<ReadonlyArray<string>>([
  [["GROCERY"], 46],
  [["CHILD_NUTRITION_FOOD_PROGRAMS"], 21],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "GROCERY"], 5],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "FOOD_SERVICE", "ONLINE"], 5],
  [["GROCERY", "CHILD_NUTRITION_FOOD_PROGRAMS"], 3],
  [["ONLINE", "GROCERY"], 3],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "CHILD_NUTRITION_FOOD_PROGRAMS"], 2],
  [["GROCERY", "GROCERY"], 2],
  [["CONVENIENCE", "FOOD_SERVICE", "GROCERY", "ONLINE"], 2],
  [["FOOD_SERVICE", "DRUG", "MILITARY", "VENDING"], 1],
  [["ONLINE", "MASS_MERCHANDISING"], 1]
])
const subbrands = ["ORGANIC", "FRESH", "CHUNKY", "CONDENSED", "BAKERY", "SELECTS", "DAIRY FARMS", "SIGNATURE"]
const insignificant = [
  "SATURATED FAT, TRANS FAT, CHOLESTEROL, DIETARY FIBER, VITAMIN D, CALCIUM, IRON AND POTASSIUM.",
  "CALORIES FROM FAT, SATURATED FAT, TRANS FAT, CHOLESTEROL, DIETARY FIBER, VITAMIN A, VITAMIN C, CALCIUM AND IRON.",
  "DIETARY FIBER, SUGARS, VITAMIN A AND VITAMIN C.",
  "OTHER NUTRIENTS."
]

interface Version {
  readonly product: number
  /** Number of its release. */
  readonly wave: number
  readonly shelf: Shelf
  readonly source: string
}

/** Each draw depends on those before it: another order would change the sample release. */
export const drawDetails = (chance: Chance, plan: Plan, { product, wave, shelf, source }: Version) => {
  const isGdsn = source === "GDSN"
  const isPrepared = isGdsn && chance.happens(0.43)
  const isNewZealand = source === "NZGDSN"
  const categoryDraw = chance.unit()
  const day = plan.getModified(product, wave)
  const isDiscontinued = chance.happens(0.05) && wave === plan.findCurrent(product)
  const isCaffeinated = shelf.isLiquid && source !== "LI" && chance.oddityHappens(0.06)
  const isLiquid = shelf.isLiquid && chance.happens(0.75)
  const country = isGdsn && wave >= 15 ? "US" : "United States"
  return {
    ...drawServing(chance, isLiquid),
    serving_size_unit: drawUnit(chance, isLiquid, wave),
    omitsBrand: chance.happens(isGdsn ? 0.33 : 0.28),
    subbrand_name: chance.happens(0.05) ? (subbrands[chance.below(subbrands.length)] ?? "") : "",
    short_description: isPrepared ? shelf.nouns[0].replaceAll(/[AEIOU]/g, "") : "",
    not_a_significant_source_of:
      source === "LI" && chance.happens(0.043)
        ? `NOT A SIGNIFICANT SOURCE OF ${insignificant[chance.below(insignificant.length)]}`
        : "",
    household_serving_fulltext: chance.happens(isGdsn ? 0.74 : 0.43) ? households.draw(chance) : "",
    omitsCategory: isGdsn && categoryDraw < 0.1,
    hasCategoryOnlyInFood: wave >= 13 && categoryDraw > 0.97,
    package_weight: chance.happens(isGdsn ? 0.55 : 0.41) ? weights.draw(chance) : "",
    modified: wave < 13 && chance.oddityHappens(0.0001) ? -1 : day,
    discontinued: isDiscontinued ? plan.getPublished(product, wave) + chance.below(60) : -1,
    market_country: isNewZealand ? "New Zealand" : country,
    preparation_state_code: isPrepared ? preparations.draw(chance) : "",
    trade_channels: isGdsn && chance.happens(0.187) ? channels.draw(chance) : [],
    material_code: isGdsn && chance.oddityHappens(0.02) ? "PLASTIC_OTHER" : "",
    caffeine_statement: isCaffeinated ? `CONTAINS CAFFEINE: ${10 * (1 + chance.below(16))} MG PER SERVING` : "",
    footnote: chance.happens(0.004) ? "*PERCENT DAILY VALUES ARE BASED ON A 2,000 CALORIE DIET." : "",
    omitsLabelNutrients: chance.happens(0.005),
    hasAmericanDates: chance.happens(0.01)
  }
}
