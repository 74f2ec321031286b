/**
 * Amounts per 100 g or 100 ml of one label: which nutrients it states, how much, and how they were derived. They are
 * consistent, except that one row in 5,000 has an impossible amount.
 */
import { type Chance, quantile } from "./chance.ts"
import { type Composition, reconcile, roundToStep } from "./composition.ts"
import { type Decimal, powerOf10 } from "./decimals.ts"
import { findNutrient, fromDailyValue, type Nutrient, nutrients } from "./nutrients.ts"

export interface StatedAmount {
  /** Id of the row, in both forms. */
  readonly id: number
  readonly nutrient: Nutrient
  readonly amount: Decimal
  /** Index in `derivations`; -1 without a derivation. */
  readonly derivation: number
}

/** Limit of rare nutrients: most foods state few of them, a food with a full analysis nearly all. */
const rareShare = 0.02
const fullShare = 0.01
const macros = new Set([1003, 1004, 1005, 1008, 1093, 2000, 1258])
const short = new Set([1003, 1004, 1005, 1008, 1093])
const newLabel = new Map([
  [1092, 0.92],
  [1235, 0.56],
  [1104, 0.08],
  [1162, 0.12]
])
const oldLabel = new Map([
  [1092, 0.08],
  [1235, 0.02],
  [1104, 0.68],
  [1162, 0.73]
])
const fats = new Set([1004, 1258, 1292, 1293])
const sugars = new Set([1005, 2000, 1063, 1235])

const common = nutrients.filter(({ id, share }) => share >= rareShare && id !== 1110 && id !== 1114)
const rare = nutrients.filter(({ share }) => share > 0 && share < rareShare)

/** Small labels state few nutrients, those with a full analysis thirty or more. The source lost the amounts of some. */
const chooseNutrients = (chance: Chance): ReadonlyArray<Nutrient> => {
  const kind = chance.unit()
  if (kind < 0.004) return []
  const chosen: Array<Nutrient> = []
  const isShort = kind < 0.13
  const isNew = chance.happens(0.43)
  const special = isNew ? newLabel : oldLabel
  for (const nutrient of common) {
    const share = special.get(nutrient.id) ?? (macros.has(nutrient.id) ? 0.985 : Math.min(0.97, nutrient.share * 1.08))
    const probability = isShort && !short.has(nutrient.id) ? share * 0.25 : share
    if (chance.happens(probability)) chosen.push(substitute(chance, nutrient))
  }
  const vitaminD = chance.unit()
  if (isNew && !isShort) {
    if (vitaminD < 0.7) chosen.push(findNutrient(1110))
    if (vitaminD > 0.69 && vitaminD < 0.95) chosen.push(findNutrient(1114))
  }
  if (chance.happens(fullShare)) for (const nutrient of rare) if (chance.happens(0.75)) chosen.push(nutrient)
  return chosen
}

/** Replaces ids: energy only in kJ or by Atwater's factors, sugars under the older id. */
const substitute = (chance: Chance, nutrient: Nutrient) => {
  if (nutrient.id === 1008) {
    if (chance.oddityHappens(0.003)) return findNutrient(1062)
    if (chance.oddityHappens(0.0005)) return findNutrient(2047)
    if (chance.oddityHappens(0.0005)) return findNutrient(2048)
  }
  return nutrient.id === 2000 && chance.oddityHappens(0.0015) ? findNutrient(1063) : nutrient
}

/** Three significant digits since November 2020, two decimals before. */
const roundAmount = (amount: number, hasThreeDigits: boolean): Decimal => {
  if (amount <= 0) return { digits: 0, scale: hasThreeDigits ? 3 : 2 }
  let scale = hasThreeDigits ? 0 : 2
  if (hasThreeDigits) {
    let probe = amount
    for (; probe < 100 && scale < 7; scale++) probe *= 10
    for (; probe >= 999.5; scale--) probe /= 10
  }
  const digits = Math.round(scale < 0 ? amount / powerOf10(-scale) : amount * powerOf10(scale))
  return digits === 0 ? { digits: 0, scale: hasThreeDigits ? 3 : 2 } : { digits, scale }
}

const drawDerivation = (chance: Chance, id: number, isPerHundred: boolean) => {
  const draw = chance.unit()
  if (draw < 0.024) return -1
  if (isPerHundred) return draw < 0.5 ? 4 : 6
  if (draw < 0.056) return 2
  if (draw < 0.068) return 3
  if (draw < 0.07) return draw < 0.069 ? 5 : 8
  if (draw < 0.071) return 7
  return draw < (macros.has(id) ? 0.17 : 0.55) ? fromDailyValue : 0
}

export interface Statement {
  readonly chance: Chance
  readonly firstId: number
  /** Serving size; 0 if the label lacks it. */
  readonly serving: number
  /** Whether amounts have three significant digits, not two decimals. */
  readonly hasThreeDigits: boolean
  /** Whether the sender (GDSN) states amounts per 100 itself. */
  readonly isPerHundred: boolean
}

/** Draws each amount from its own distribution, in the steps in which a label with this serving states it. */
const drawComposition = (chance: Chance, chosen: ReadonlyArray<Nutrient>, serving: number) => {
  const [fat, sweet] = [chance.unit(), chance.unit()]
  const composition: Composition = new Map()
  for (const { id, points, zeros } of chosen) {
    let u = chance.unit()
    if (chance.happens(0.6)) {
      // Fat and saturated fat correlate, and so do carbohydrates and sugars.
      if (fats.has(id)) u = fat
      if (sugars.has(id)) u = sweet
    }
    composition.set(id, u < zeros ? 0 : roundToStep(quantile(points, u), serving))
  }
  reconcile(composition, serving, { maxWeight: 85 + 15 * chance.unit(), share: 0.95 + 0.08 * chance.unit() })
  return composition
}

export const drawAmounts = ({ chance, firstId, isPerHundred, serving, hasThreeDigits }: Statement) => {
  const chosen = chooseNutrients(chance)
  const composition = drawComposition(chance, chosen, serving)
  const amounts: Array<StatedAmount> = []
  const add = (nutrient: Nutrient, amount: Decimal, derivation: number) => {
    amounts.push({ id: firstId + amounts.length, nutrient, amount, derivation })
  }
  for (const nutrient of chosen) {
    const per100 = chance.oddityHappens(0.0002) ? nutrient.impossible : (composition.get(nutrient.id) ?? 0)
    const derivation = drawDerivation(chance, nutrient.id, isPerHundred)
    add(nutrient, roundAmount(per100, hasThreeDigits), derivation)
    if (chance.oddityHappens(0.00007))
      add(nutrient, roundAmount(chance.happens(0.5) ? per100 : per100 / 2, hasThreeDigits), derivation)
  }
  return amounts
}
