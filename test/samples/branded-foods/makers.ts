/** Invented owners, brands and words: about 20,000 owners with a long tail, and one to four brands each. */
import type { Chance } from "./chance.ts"
import { hashNumbers } from "./chance.ts"

const splitWords = (text: string) => text.split(" ")

const firsts = splitWords(
  "Harbor Golden Silver Maple Cedar River Prairie Sunny Blue Green Red Copper Stone Valley Mountain Lake Forest Meadow Orchard Summit Coastal Island Desert Northern Southern Western Eastern Heritage Liberty Pioneer Frontier Homestead Farmer's Baker's Grandma's Uncle Captain Royal Crown Noble Little Happy Lucky Bright Morning Evening Honest Simple Pure Fresh Wild Rustic Country Village Old New First Grand Crystal Amber Ivory Rosewood Willow Aspen Birch Juniper Laurel Magnolia Clover Thistle Heron Falcon Robin Sparrow Bison Elk Otter Fox Badger Anchor Lantern Windmill Millstone Hearth Kettle Copperfield Ashford Brookside Fairview Glenwood Hillcrest Lakeview Oakdale Pinehurst Ridgeway Springfield Westbrook Woodland Larkspur Marigold Saffron Sage Basil Juniperberry Tamarack"
)
const seconds = splitWords(
  "Farms Foods Kitchen Bakery Creamery Orchards Mills Pantry Harvest Garden Ranch Dairy Market Provisions Naturals Organics Table Acres Grove Fields Valley Hills Creek Springs Bay Point Ridge Hollow Crossing Junction Brothers Sisters Family Company Trading Roasters Brewing Confections Snacks Spice Seafood Meats Produce Growers Select Choice Traditions Delights Gourmet Classics"
)
const suffixes = [", Inc.", " Inc.", " LLC", " Co.", ", LLC", " Corporation", "", " COMPANY", " Company, Inc.", " L.P."]

const openings = splitWords("b br c ch cl d dr f fl g gr h j k kl l m n p pl pr qu r s sh sk sp st t tr v w y z")
const vowels = splitWords("a e i o u ai ea io ou a e o")
const middles = splitWords("b ck d ff g l ll m mp n nd nn nt p r rd rn rr s sh ss st t tt v x z lm rk")
const endings = splitWords("a o el en er in is on or us ia elle ette ado ino ara ina oro um yx")

const pickPart = (parts: ReadonlyArray<string>, number: number) => parts[number % parts.length] ?? ""

/** There are 33 × 12 × 28 × 12 × 28 × 20 spellings: of 150,000 words, about a hundred are duplicates. */
const inventWord = (index: number) => {
  const h = hashNumbers(19, 7, index)
  const g = hashNumbers(23, 11, index)
  const stem = `${pickPart(openings, h)}${pickPart(vowels, h >>> 6)}${pickPart(middles, h >>> 12)}`
  const tail = g % 3 === 0 ? "" : `${pickPart(vowels, g >>> 4)}${pickPart(middles, g >>> 10)}`
  return `${stem}${tail}${pickPart(endings, g >>> 18)}`.toUpperCase()
}

/** The first words are frequent. The last ones occur in one to three foods of two million. */
export const inventWords = (count: number) => Array.from({ length: count }, (_, index) => inventWord(index))

const owners = 20_000

export interface Maker {
  /** As published: sometimes with spaces around it, in brackets, or `NOT A BRANDED ITEM`. */
  readonly owner: string
  readonly brand: string
}

const makeName = (h: number) => `${pickPart(firsts, h)} ${pickPart(seconds, h >>> 8)}`

const formatOwner = (chance: Chance, owner: string) => {
  const quirk = chance.unit()
  if (quirk < 0.03) return `${owner} `
  if (quirk < 0.044) return ` ${owner}`
  if (chance.oddityHappens(0.002)) return `[[${owner}]]`
  if (chance.oddityHappens(0.0015)) return "NOT A BRANDED ITEM"
  if (quirk < 0.051) return ""
  return owner
}

export const drawMaker = (chance: Chance): Maker => {
  const index = chance.zipf(owners)
  const h = hashNumbers(31, 1, index)
  const name = makeName(h)
  const owner = `${name}${pickPart(suffixes, h >>> 16)}`
  const brandHash = hashNumbers(31, 2, index, 1 + chance.zipf(6))
  const brand = chance.happens(0.5) ? pickPart(firsts, brandHash).toUpperCase() : makeName(brandHash).toUpperCase()
  return {
    owner: formatOwner(chance, h % 5 === 0 ? owner.toUpperCase() : owner),
    brand: chance.happens(0.5) ? name.toUpperCase() : brand
  }
}
