/** Kinds of goods, a noun with a flavour and an adjective, with their titles and options. */
import { type Chance, hashNumbers } from "../branded-foods/chance.ts"
import { type Goods, type Theme, themes } from "./shelves.ts"

export interface Kind {
  readonly goods: Goods
  readonly adjective: string
  readonly flavour: string
}

const listKinds = ({ adjectives, goods }: Theme) =>
  goods.flatMap((item) =>
    item.flavours.flatMap((flavour) => adjectives.map((adjective): Kind => ({ goods: item, adjective, flavour })))
  )

/** All goods, flavours and adjectives of a theme, mixed as in a real store: a kind is repeated only after all others. */
export const kinds = new Map(
  Object.entries(themes).map(([name, theme]) => {
    const placed = listKinds(theme).map((kind, i) => ({ kind, place: hashNumbers(7, 1, i) }))
    return [name, placed.toSorted((a, b) => a.place - b.place).map(({ kind }) => kind)]
  })
)

export const makeSlug = (text: string) =>
  text
    .toLowerCase()
    .replaceAll("’", "")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")

export const makeTitle = ({ adjective, flavour, goods }: Kind) => {
  const followsNoun = /^[ ,]/.test(flavour)
  const words = [adjective, followsNoun ? "" : flavour, goods.noun].filter((word) => word !== "").join(" ")
  return followsNoun ? `${words}${flavour}` : words
}

export interface Choice {
  readonly name: string
  readonly values: ReadonlyArray<string>
}

const wrapping: Choice = { name: "Wrapping", values: ["Paper", "Gift Box"] }
const refill: Choice = { name: "Container", values: ["New", "Refill"] }
const secondChoices: Readonly<Record<string, Choice>> = {
  Bread: { name: "Slicing", values: ["Whole", "Sliced"] },
  Cheese: { name: "Cut", values: ["Wedge", "Grated"] },
  "Coffee & Tea": { name: "Grind", values: ["Whole Bean", "Filter", "Espresso"] },
  Garden: { name: "Colour", values: ["Terracotta", "Sage", "Charcoal"] },
  Home: { name: "Colour", values: ["Natural", "Ink"] },
  Milk: refill,
  "Oils & Vinegars": refill,
  "Pasta & Grains": refill,
  "Yogurt & Kefir": refill
}

const makeSizeChoice = ({ sizes }: Goods): Choice => ({
  name: sizes.some(([label]) => label.endsWith(" g")) ? "Weight" : "Size",
  values: sizes.map(([label]) => label)
})

export const drawOptions = (chance: Chance, goods: Goods): ReadonlyArray<Choice> => {
  const sizes = makeSizeChoice(goods)
  const other = secondChoices[goods.shelf] ?? wrapping
  const drawn = chance.below(100)
  if (drawn < 48) return []
  if (drawn < 80) return [sizes]
  if (drawn < 86) return [{ ...sizes, values: sizes.values.slice(0, 2) }]
  // The order of options has no meaning: a colour may be first.
  if (drawn < 97) return other.name === "Colour" ? [other, sizes] : [sizes, other]
  return [sizes, other, other === wrapping ? { name: "Delivery", values: ["Post", "Courier"] } : wrapping]
}
