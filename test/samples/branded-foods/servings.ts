/** Frequent serving sizes, units, household texts and package weights of the source, with their frequencies. */
import { type Chance, Weighted } from "./chance.ts"
import { formatShort } from "./decimals.ts"

const gramSizes = new Weighted<number>([
  [28, 1052],
  [30, 702],
  [15, 296],
  [85, 261],
  [40, 256],
  [56, 229],
  [113, 175],
  [32, 153],
  [57, 144],
  [14, 139],
  [60, 112],
  [45, 107],
  [31, 106],
  [130, 106],
  [112, 106],
  [125, 104],
  [50, 103],
  [35, 103],
  [5, 101],
  [43, 99],
  [140, 98],
  [21, 95],
  [150, 84],
  [100, 83],
  [170, 82],
  [42, 81],
  [34, 78],
  [38, 68],
  [29, 66],
  [20, 61],
  [36, 58],
  [25, 57],
  [17, 57],
  [55, 55],
  [84, 53],
  [227, 40],
  [7, 44],
  [4, 44],
  [1, 36],
  [340, 25]
])
const millilitreSizes = new Weighted<number>([
  [240, 417],
  [355, 124],
  [360, 94],
  [120, 82],
  [15, 80],
  [30, 80],
  [245, 46],
  [237, 39],
  [236, 33],
  [250, 30],
  [473, 25],
  [500, 20],
  [591, 15]
])
export const households = new Weighted<string>([
  ["1 ONZ", 217],
  ["2 Tbsp", 199],
  ["1 Tbsp", 178],
  ["1 cup", 164],
  ["1/2 cup", 156],
  ["1/4 cup", 127],
  ["0.5 cup", 114],
  ["8 OZA", 100],
  ["0.25 cup", 77],
  ["2/3 cup", 71],
  ["2 ONZ", 64],
  ["1 BAR", 57],
  ["1 tsp", 57],
  ["12 OZA", 47],
  ["1 SLICE", 44],
  ["3 ONZ", 43],
  ["1 CONTAINER", 39],
  ["Amount per serving", 39],
  ["3/4 cup", 33],
  ["1 PACKAGE", 30],
  ["1 CAN", 26],
  ["1 BOTTLE", 24],
  ["3 PIECES", 22],
  ["4 PIECES | ABOUT 30 G", 6],
  ["1 1/2 cup", 8],
  ["2/3 cup (55g)", 8],
  ["1 Bottle (473mL)", 6],
  ["1.1 oz (31g), 1 Pack", 5],
  ["100 GRM", 8],
  ["30 MLT", 5]
])
export const weights = new Weighted<string>([
  ["12 oz/340 g", 116],
  ["8 oz/227 g", 81],
  ["16 oz/1 lbs/454 g", 72],
  ["10 oz/283 g", 58],
  ["6 oz/170 g", 52],
  ["15 oz/425 g", 49],
  ["32 oz/2 lbs/907 g", 40],
  ["16.9 fl oz/500 mL", 25],
  ["12 fl oz/355 mL", 32],
  ["5.3 oz/150 g", 27],
  ["16 OZ", 26],
  ["9.5 ONZ", 12],
  ["2.5 LBR", 9],
  ["64 OZA", 9],
  ["2.27 kg", 6],
  ["1 GAL/3.78 L", 6]
])
/** Draws the size of a serving, and its text in the file. */
export const drawServing = (chance: Chance, isLiquid: boolean) => {
  const whole = (isLiquid ? millilitreSizes : gramSizes).draw(chance)
  const draw = chance.unit()
  if (chance.oddityHappens(0.0003)) return { serving: { digits: 0, scale: 0 }, size: "0" }
  if (draw > 0.08) return { serving: { digits: whole, scale: 0 }, size: whole.toString() }
  const serving = { digits: whole * 10 + 1 + chance.below(9), scale: 1 }
  const size = formatShort(serving)
  // The nearest 32-bit float, with the digits of a 64-bit one: 56.7 is 56.70000076293945.
  return { serving, size: draw < 0.014 ? `${Math.fround(Number(size))}` : size }
}

/** `MG`, `IU` and `MC` are grams and millilitres under a wrong name. */
export const drawUnit = (chance: Chance, isLiquid: boolean, wave: number) => {
  const draw = chance.unit()
  if (draw < 0.005) return ""
  if (draw < 0.0067) return "IU"
  if (draw < 0.0117) return "MG"
  if (chance.oddityHappens(0.0004)) return "MC"
  const isModern = wave >= 12
  if (isLiquid) return isModern && draw < 0.35 ? "MLT" : "ml"
  if (chance.oddityHappens(0.0003)) return "GM"
  return isModern && draw < 0.35 ? "GRM" : "g"
}
