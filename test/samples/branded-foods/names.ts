/** Descriptions: median 34 characters, 3 to about 350, 96 % in upper case, with the oddities of the source. */
import type { Chance } from "./chance.ts"
import type { Shelf } from "./shelves.ts"

const adjectives: readonly [string, ...Array<string>] = [
  "ORGANIC",
  "ORIGINAL",
  "PREMIUM",
  "CLASSIC",
  "NATURAL",
  "GOURMET",
  "TRADITIONAL",
  "OLD FASHIONED",
  "DELUXE",
  "HOMESTYLE",
  "GLUTEN FREE",
  "MINI",
  "SMALL BATCH",
  "HANDCRAFTED",
  "CRUNCHY",
  "ALL NATURAL",
  "EXTRA",
  "VEGAN",
  "CERTIFIED ORGANIC",
  "FARMHOUSE STYLE"
]

const additions: readonly [string, ...Array<string>] = [
  "NO ARTIFICIAL FLAVORS",
  "MADE WITH REAL FRUIT",
  "GOOD SOURCE OF FIBER",
  "LIMITED EDITION",
  "WITH OTHER NATURAL FLAVORS",
  "12 PACK",
  "FAMILY SIZE",
  "VALUE SIZE",
  "NON-GMO",
  "25% MORE FREE",
  "100% NATURAL",
  "LIMITED_EDITION",
  "NATURALLY & ARTIFICIALLY FLAVORED"
]

const companions: readonly [string, ...Array<string>] = [
  "SEA SALT",
  "REAL FRUIT",
  "HONEY",
  "ROASTED GARLIC",
  "ADDED FIBER",
  "ALMONDS",
  "LEMON",
  "WHOLE GRAINS",
  "10 VITAMINS & MINERALS"
]

/** Words outside ASCII, correct and broken. */
const foreign: readonly [string, ...Array<string>] = [
  "MÜSLI",
  "CRÈME BRÛLÉE",
  "JALAPEÑO",
  "SOUFFLÉ",
  "KÄSESPÄTZLE",
  "GRÖßE XL",
  "PUREEâ€ ",
  "CAFÃ‰ STYLE",
  "PIÑA COLADA",
  "Ã–FRASPBERRY"
]

const toTitleCase = (text: string) => text.toLowerCase().replace(/(^|[ (-])[a-z]/g, (start) => start.toUpperCase())

const addOddity = (chance: Chance, name: string, shelf: Shelf) => {
  if (chance.oddityHappens(0.002)) return `6"" ${name}`
  if (chance.oddityHappens(0.0015)) return name.replace(/^\S+/, (word) => `""${word}""`)
  if (chance.oddityHappens(0.001)) return `${name} 9"`
  if (chance.oddityHappens(0.0015)) return `${chance.pick(foreign)} ${name}`
  if (chance.oddityHappens(0.002)) return `${name}  ${chance.pick(shelf.flavours)}` // two spaces
  return name
}

const lengthen = (chance: Chance, start: string, shelf: Shelf) => {
  const minLength = 70 + 170 * chance.unit() * chance.unit() + (chance.happens(0.03) ? 100 : 0)
  let name = start
  while (name.length < minLength)
    name += `, ${chance.happens(0.5) ? chance.pick(additions) : `${chance.pick(shelf.flavours)} ${chance.pick(shelf.nouns)}`}`
  return name
}

/** `word` is an invented name of a product line. */
export const drawName = (chance: Chance, shelf: Shelf, brand: string, word: string) => {
  const noun = chance.pick(shelf.nouns)
  let name = noun
  const flavour = chance.pick(shelf.flavours)
  if (chance.happens(0.62)) name = `${flavour} ${name}`
  if (chance.happens(0.3)) name = `${chance.pick(adjectives)} ${name}`
  if (chance.happens(0.27)) name = `${word} ${name}`
  if (chance.happens(0.22)) name = `${brand}, ${name}`
  const pattern = chance.unit()
  if (pattern < 0.2) name = `${name}, ${chance.pick(shelf.flavours)}`
  else if (pattern < 0.32) name = `${name}, ${flavour} ${noun}`
  else if (pattern < 0.4) name = `${name}, ${chance.pick(additions)}`
  else if (pattern < 0.46) name = `${name} WITH ${chance.pick(companions)}`
  else if (pattern < 0.5) name = `${name}, ${4 + chance.below(28)} OZ`
  else if (pattern < 0.58) name = lengthen(chance, name, shelf)
  name = addOddity(chance, name, shelf)
  return { name: chance.happens(0.043) ? toTitleCase(name) : name, short: noun }
}
