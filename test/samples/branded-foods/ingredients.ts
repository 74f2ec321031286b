/** Ingredient statements: median 206 characters, 95 % below 820, maximum about 4,600; 97 % are in upper case. */
import { type Chance, quantile, Weighted } from "./chance.ts"
import type { Shelf } from "./shelves.ts"

/** The most frequent ingredients, with their weights. */
const frequent: ReadonlyArray<readonly [string, number]> = [
  ["SALT", 854],
  ["SUGAR", 534],
  ["WATER", 522],
  ["CITRIC ACID", 238],
  ["SOY LECITHIN", 172],
  ["NATURAL FLAVOR", 167],
  ["ENZYMES", 155],
  ["WHEAT FLOUR", 150],
  ["CORN SYRUP", 131],
  ["SPICES", 128],
  ["SEA SALT", 116],
  ["DEXTROSE", 114],
  ["NATURAL FLAVORS", 111],
  ["SOYBEAN OIL", 105],
  ["XANTHAN GUM", 98],
  ["MALTODEXTRIN", 90],
  ["HIGH FRUCTOSE CORN SYRUP", 82],
  ["GARLIC POWDER", 80],
  ["ONION POWDER", 80],
  ["VINEGAR", 70],
  ["YEAST", 68],
  ["CANE SUGAR", 66],
  ["MODIFIED CORN STARCH", 64],
  ["GUAR GUM", 60],
  ["PALM OIL", 58],
  ["WHEY", 56],
  ["CREAM", 54],
  ["BUTTER (CREAM, SALT)", 50],
  ["CANOLA OIL", 48],
  ["EGGS", 47],
  ["BAKING SODA", 46],
  ["POTASSIUM SORBATE (PRESERVATIVE)", 44],
  ["SODIUM BENZOATE (PRESERVATIVE)", 40],
  ["PAPRIKA EXTRACT (COLOR)", 38],
  ["CALCIUM CHLORIDE", 36],
  ["ASCORBIC ACID (VITAMIN C)", 36],
  ["RIBOFLAVIN", 34],
  ["NIACIN", 32],
  ["REDUCED IRON", 32],
  ["FOLIC ACID", 32],
  ["THIAMIN MONONITRATE", 30],
  ["ARTIFICIAL FLAVOR", 30],
  ["RED 40", 28],
  ["YELLOW 5", 28],
  ["BLUE 1", 26],
  ["CARRAGEENAN", 26],
  ["LACTIC ACID", 26],
  ["COCOA (PROCESSED WITH ALKALI)", 24],
  ["VEGETABLE OIL (SOYBEAN, PALM AND/OR CANOLA OIL)", 24],
  ["MONO- AND DIGLYCERIDES", 24],
  ["ORGANIC CANE SUGAR", 22],
  ["PECTIN", 22],
  ["LEAVENING (SODIUM ACID PYROPHOSPHATE, SODIUM BICARBONATE, MONOCALCIUM PHOSPHATE)", 20],
  ["CHEDDAR CHEESE (CULTURED MILK, SALT, ENZYMES)", 20],
  ["BLACK PEPPER", 20],
  ["CARAMEL COLOR", 20],
  ["TURMERIC", 18],
  ["PARSLEY", 18],
  ["BROWN SUGAR", 18],
  ["SUNFLOWER OIL", 18],
  ["SODIUM PHOSPHATE", 16],
  ["YEAST EXTRACT", 16],
  ["TOMATO PASTE", 16],
  ["MILK", 16],
  ["NONFAT DRY MILK", 16],
  ["RICE FLOUR", 14],
  ["HONEY", 14],
  ["COCOA BUTTER", 14],
  ["MOLASSES", 12],
  ["GELATIN", 12],
  ["ANNATTO EXTRACT (COLOR)", 12],
  ["SODIUM NITRITE", 10],
  ["VITAMIN A PALMITATE", 10],
  ["VITAMIN D3", 10],
  ["SESAME SEEDS", 10],
  ["OREGANO", 10],
  ["CORN STARCH", 10],
  ["TAPIOCA STARCH", 10],
  ["LEMON JUICE CONCENTRATE", 10],
  ["MUSTARD SEED", 8],
  ["SUCRALOSE", 8],
  ["STEVIA LEAF EXTRACT", 8],
  ["JALAPENO PEPPERS", 8],
  ["COCONUT", 8],
  ["ALMONDS", 8],
  ["PEANUTS", 8],
  ["RAISINS", 6],
  ["WORCESTERSHIRE SAUCE (DISTILLED WHITE VINEGAR, MOLASSES, SUGAR, WATER, SALT, ONIONS, ANCHOVIES)", 6],
  ["FERMENTED SOY SAUCE (WATER, SOYBEANS, WHEAT, SALT)", 6],
  ["TOCOPHEROLS (TO PRESERVE FRESHNESS)", 6],
  ["DISODIUM INOSINATE", 6],
  ["BASIL", 6],
  ["CARROTS", 6],
  ["CELERY", 6]
]
const frequentItems = new Weighted(frequent.map(([, weight], index) => [index, weight] as const))

const plants = (
  "APPLE|APRICOT|ARTICHOKE|AVOCADO|BANANA|BEET|BLACKBERRY|BLUEBERRY|BROCCOLI|CABBAGE|CARDAMOM|CARROT|CAULIFLOWER|CAYENNE|CHERRY|" +
  "CHIA|CHIPOTLE|CILANTRO|CINNAMON|CLOVE|CORIANDER|CRANBERRY|CUMIN|DATE|DILL|ELDERBERRY|FENNEL|FIG|FLAXSEED|GINGER|GRAPE|GUAVA|" +
  "HAZELNUT|HIBISCUS|HORSERADISH|KALE|LEEK|LEMON|LENTIL|LIME|MACADAMIA|MANGO|MARJORAM|MUSHROOM|NUTMEG|ORANGE|PAPAYA|PASSIONFRUIT|" +
  "PEACH|PEAR|PEPPERMINT|PINEAPPLE|PLUM|POBLANO|POMEGRANATE|PUMPKIN|QUINOA|RASPBERRY|ROSEMARY|SAGE|SHALLOT|SPINACH|STRAWBERRY|" +
  "SWEET POTATO|TAMARIND|TARRAGON|THYME|TOMATILLO|TOMATO|WASABI|WATERCRESS|ZUCCHINI"
).split("|")
const forms = (
  "*|DRIED *|ORGANIC *|* POWDER|* JUICE CONCENTRATE|* PUREE|* EXTRACT|GROUND *|DEHYDRATED *|* FLAVOR|ROASTED *|* OIL|* PASTE|" +
  "NATURAL * FLAVOR WITH OTHER NATURAL FLAVORS|FREEZE-DRIED *|* (SULFITED TO RETAIN COLOR)"
).split("|")
/** A thousand rare ingredients. */
const rareIngredients = forms.flatMap((form) => plants.map((plant) => form.replace("*", plant)))

const lengths = [
  [0, 3],
  [0.01, 8],
  [0.05, 19],
  [0.1, 35],
  [0.25, 92],
  [0.5, 206],
  [0.75, 376],
  [0.9, 623],
  [0.95, 816],
  [0.99, 1298],
  [0.999, 2142],
  [1, 4643]
] as const

const minorPhrases: readonly [string, ...Array<string>] = [
  "CONTAINS 2% OR LESS OF: ",
  "CONTAINS LESS THAN 2% OF ",
  "CONTAINS 1% OR LESS OF EACH OF THE FOLLOWING: ",
  "2% OR LESS OF "
]

const allergens: readonly [string, ...Array<string>] = [
  "CONTAINS: MILK.",
  "CONTAINS: WHEAT, SOY.",
  "CONTAINS MILK AND SOY.",
  "CONTAINS: PEANUTS, TREE NUTS (ALMONDS).",
  "CONTAINS: EGG, MILK, WHEAT.",
  "CONTAINS: FISH (ANCHOVY)."
]

/** Unusual characters of the source: texts that were read as Windows-1252 instead of UTF-8, and accents. */
const unusual: readonly [string, ...Array<string>] = [
  "FAIR TRADE CERTIFIEDâ„¢ COCOA",
  "PEACH PUREEâ€ ",
  "JALAPEÃ‘O PEPPERS",
  "GRUYÃˆRE CHEESE",
  "2% ÃƒÂ–FRASPBERRY",
  "CRÈME FRAÎCHE",
  "PURÉE VON HIMBEEREN ÄÖÜß"
]

const openStatement = (chance: Chance, base: string) => {
  const draw = chance.unit()
  if (draw < 0.035) return `INGREDIENTS: ${base}`
  return draw < 0.044 ? `, ${base}` : base
}

const finishStatement = (chance: Chance, statement: string) => {
  let text = statement
  if (chance.oddityHappens(0.0015)) text = `${text}, ${chance.pick(unusual)}`
  if (chance.oddityHappens(0.0004)) text = text.replace(", ", ',\n"SPICE BLEND", ')
  if (chance.happens(0.7)) text = `${text}.`
  if (chance.happens(0.13)) text = `${text} ${chance.pick(allergens)}`
  return chance.happens(0.032) ? text.toLowerCase() : text
}

/** Draws an item. A frequent one is rarely drawn twice for the same label. */
const drawItem = (chance: Chance, used: Uint8Array) => {
  if (chance.happens(0.18)) return rareIngredients[chance.zipf(rareIngredients.length)] ?? ""
  let index = frequentItems.draw(chance)
  for (let tries = 0; tries < 4 && used[index] === 1; tries++) index = frequentItems.draw(chance)
  used[index] = 1
  return frequent[index]?.[0] ?? ""
}

const makeOrganic = (item: string) => (item.startsWith("ORGANIC") ? item : `ORGANIC ${item}`)

const drawSeparator = (chance: Chance) => {
  const draw = chance.unit()
  if (draw < 0.76) return ", "
  return draw < 0.92 ? " AND " : " AND/OR "
}

/** `rareWord` is the name of a rare botanical or additive. */
export const drawIngredients = (chance: Chance, shelf: Shelf, rareWord: string) => {
  if (chance.happens(0.003)) return ""
  const minLength = quantile(lengths, chance.unit()) - 16 // the last item exceeds this length, by about 16 characters
  let text = openStatement(chance, chance.pick(shelf.bases))
  if (minLength < 12) return text.length > 30 ? "SALT" : text
  let isLittle = false
  let ending = ""
  const used = new Uint8Array(frequent.length)
  while (text.length < minLength) {
    text += drawSeparator(chance)
    if (!isLittle && text.length > minLength * 0.6 && minLength > 120) {
      isLittle = true
      if (chance.happens(0.26)) text += chance.pick(minorPhrases)
    }
    const draw = chance.unit()
    if (draw < 0.02) text += `${chance.pick(shelf.bases)} (${1 + chance.below(40)}%)`
    else if (draw < 0.06) text += makeOrganic(drawItem(chance, used))
    else text += drawItem(chance, used)
  }
  if (chance.happens(0.25)) ending = `, ${rareWord} ${chance.happens(0.5) ? "EXTRACT" : "POWDER"}`
  return finishStatement(chance, text + ending)
}
