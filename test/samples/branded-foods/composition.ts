/**
 * Makes the amounts of one label consistent, in the steps of its serving: parts weigh at most as much as their whole, all
 * parts together at most as much as the food, and energy follows from protein, fat and carbohydrates.
 */

/** Grams per 100 g or 100 ml, energy in kcal, by nutrient id. */
export type Composition = Map<number, number>

const protein = 1003
const fat = 1004
const carbohydrates = 1005
const fibre = 1079
const ash = 1007
const water = 1051
const components = [protein, fat, carbohydrates, ash, water]

/** Each whole with its parts. A whole comes before its parts. */
const wholes: ReadonlyArray<readonly [number, ReadonlyArray<number>]> = [
  [fat, [1258, 1257, 1292, 1293]], // saturated, trans, mono- and polyunsaturated
  [1258, [1259, 1260, 1261, 1262, 1263, 1264, 1265, 1266]],
  [1292, [1268, 1275, 1277]],
  [1293, [1269, 1270, 1271, 1272, 1276, 1278, 1280]],
  [carbohydrates, [2000, 1063, fibre, 1086]], // sugars under either id, fibre, sugar alcohols
  [2000, [1235]], // added sugars
  [1063, [1235]],
  [fibre, [1082, 1084]] // soluble, insoluble
]

/** The four ids of energy, with their units per kcal. */
const energies: ReadonlyArray<readonly [number, number]> = [
  [1008, 1],
  [1062, 4.184],
  [2047, 1],
  [2048, 1]
]

/** The step in which labels state an amount. */
const findStep = (amount: number) => {
  if (amount < 0.1) return 0.01
  if (amount < 1) return 0.1
  if (amount < 10) return 0.5
  if (amount < 50) return 1
  return amount < 150 ? 5 : 10
}

/** Rounds the amount of a serving with `steps`, and converts it back to 100 g. A serving of 0 is unknown: no rounding. */
const roundInSteps = (per100: number, serving: number, steps: (count: number) => number) => {
  if (per100 <= 0 || serving <= 0) return per100
  const inServing = (per100 * serving) / 100
  const step = findStep(inServing)
  return (steps(inServing / step) * step * 100) / serving
}

/** Rounds to the nearest step, but not to zero. */
export const roundToStep = (per100: number, serving: number) =>
  roundInSteps(per100, serving, (count) => Math.max(1, Math.round(count)))

/** Reduces all parts by the same share if they weigh more than the whole. */
const fit = (composition: Composition, whole: number, parts: ReadonlyArray<number>, serving: number) => {
  let sum = 0
  for (const part of parts) sum += composition.get(part) ?? 0
  if (sum <= whole) return
  for (const part of parts) {
    const amount = composition.get(part)
    if (amount) composition.set(part, roundInSteps((amount * whole) / sum, serving, Math.floor))
  }
}

const setEnergy = (composition: Composition, serving: number, share: number) => {
  const [p, f, c] = [composition.get(protein), composition.get(fat), composition.get(carbohydrates)]
  if (p === undefined && f === undefined && c === undefined) return
  // half of the energy for fibre
  const kcal = 4 * (p ?? 0) + 9 * (f ?? 0) + 4 * (c ?? 0) - 2 * (composition.get(fibre) ?? 0)
  for (const [id, perKcal] of energies)
    if (composition.has(id)) composition.set(id, roundToStep(kcal * share * perKcal, serving))
}

/** `maxWeight` is that of protein, fat, carbohydrates, ash and water together, `share` the stated share of their energy. */
export const reconcile = (
  composition: Composition,
  serving: number,
  { maxWeight, share }: { maxWeight: number; share: number }
) => {
  fit(composition, maxWeight, components, serving)
  for (const [whole, parts] of wholes) {
    const amount = composition.get(whole)
    if (amount !== undefined) fit(composition, amount, parts, serving)
  }
  setEnergy(composition, serving, share)
}
