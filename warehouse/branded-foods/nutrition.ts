/**
 * Label nutrition per serving of one label, as defined by the view `branded_food.nutrition`. The view takes more than half
 * a second per 100 000 labels, so the numbers are computed when a record is requested. A test compares both.
 */
import { Nutrition } from "@larder/schemas"
import { computeServingAmount } from "./serving-units.ts"

type NutritionKey = keyof typeof Nutrition.fields
const nutritionKeys = Object.keys(Nutrition.fields) as ReadonlyArray<NutritionKey> // keys of a literal struct

/** Columns of `branded_food.food` with the label's own amounts per serving, in the order of `nutritionKeys`. */
export const labelColumns = nutritionKeys.map((key) => `label_${key}` as const)

/** The first of the label's own amounts, as SQL; null if it states none, or if the release has an empty object for them. */
export const firstOwnAmount = (row = "food") =>
  `coalesce(${labelColumns.map((column) => `${row}.${column}`).join(", ")})`

/** Nutrient ids of FoodData Central for each key. The first one with an amount is used. */
const nutrientIds: Readonly<Record<NutritionKey, ReadonlyArray<number>>> = {
  calories: [1008, 2047, 2048],
  fat: [1004],
  saturated_fat: [1258],
  trans_fat: [1257],
  cholesterol: [1253],
  sodium: [1093],
  carbohydrates: [1005],
  fiber: [1079],
  sugars: [2000, 1063],
  added_sugar: [1235],
  protein: [1003],
  calcium: [1087],
  iron: [1089],
  potassium: [1092],
  vitamin_d: [1114]
}
const vitaminDInUnits = 1110 // 40 IU are 1 µg

/** Amounts and serving sizes have six decimals. */
const toMillionths = (number: number) => Math.round(number * 1e6)

const powersOfTen = Array.from({ length: 17 }, (_, i) => 10 ** i)

/** `whole` is in units of 10^-`decimals`. Exact while it is a safe integer: only multiples of the unit are divided. */
const roundInteger = (whole: number, decimals: number) => {
  let dropped = 0
  while (whole >= (powersOfTen[dropped + 3] ?? Number.POSITIVE_INFINITY)) dropped++
  const unit = powersOfTen[dropped] ?? 1
  const rest = whole % unit
  const roundedDown = (whole - rest) / unit
  const digits = 2 * rest + (roundedDown % 2) > unit ? roundedDown + 1 : roundedDown
  return dropped < decimals
    ? digits / (powersOfTen[decimals - dropped] ?? 1)
    : digits * (powersOfTen[dropped - decimals] ?? 1)
}

const roundBigInt = (whole: bigint, decimals: number) => {
  const dropped = Math.max(0, whole.toString().length - 3)
  const unit = 10n ** BigInt(dropped)
  const roundedDown = whole / unit
  const digits = 2n * (whole % unit) + (roundedDown % 2n) > unit ? roundedDown + 1n : roundedDown
  return Number(`${digits}e${dropped - decimals}`)
}

/** An integer in units of 10^-`decimals`, as few as possible: products of most amounts are then safe integers. */
interface Scaled {
  readonly whole: number
  readonly decimals: number
}

const toScaled = (amount: number): Scaled => {
  let whole = toMillionths(amount)
  let decimals = 6
  for (; decimals > 0 && whole % 10 === 0; decimals--) whole /= 10
  return { whole, decimals }
}

/** An amount per 100 g times a serving in g, divided by 100: exact, then rounded to three significant digits. */
const computePerServing = (amount: number, serving: Scaled): number => {
  const per100 = toMillionths(Math.abs(amount))
  const product = per100 * serving.whole
  const decimals = 6 + serving.decimals + 2
  const rounded = Number.isSafeInteger(product)
    ? roundInteger(product, decimals)
    : roundBigInt(BigInt(per100) * BigInt(serving.whole), decimals)
  return amount < 0 ? -rounded + 0 : rounded // no negative zero
}

/** The amount of a nutrient; null if the label states none. */
type FindAmount = (nutrientId: number) => number | null

const chooseAmount = (key: NutritionKey, find: FindAmount) => {
  for (const nutrient of nutrientIds[key]) {
    const amount = find(nutrient)
    if (amount !== null) return amount
  }
  const units = key === "vitamin_d" ? find(vitaminDInUnits) : null
  // Rounded as the database rounds digits beyond a decimal's scale: half away from zero.
  return units === null ? null : (Math.sign(units) * Math.round((Math.abs(toMillionths(units)) * 25) / 1000)) / 1e6
}

interface Serving {
  readonly size: number | null
  readonly unit: string | null
}

/**
 * Keys with amounts per serving; empty without a serving size. A serving that is no amount of g or ml has only the label's
 * own values. `ownAmounts` is in the order of `nutritionKeys`.
 */
export const computeNutrition = (
  { size, unit }: Serving,
  find: FindAmount,
  ownAmounts: ReadonlyArray<number | null>
): ReadonlyArray<readonly [NutritionKey, number]> => {
  if (size === null) return []
  const servingAmount = computeServingAmount(size, unit)
  const serving = servingAmount === undefined ? undefined : toScaled(servingAmount)
  const nutrition: Array<readonly [NutritionKey, number]> = []
  nutritionKeys.forEach((key, i) => {
    const ownAmount = key === "vitamin_d" ? null : (ownAmounts[i] ?? null) // the unit of its own amount is undocumented
    if (ownAmount !== null) nutrition.push([key, ownAmount])
    if (ownAmount !== null || serving === undefined) return
    const amount = chooseAmount(key, find)
    if (amount !== null) nutrition.push([key, computePerServing(amount, serving)])
  })
  return nutrition
}
