/** Searches of every kind: each filter alone, and pairs of them. */

import { Schema } from "effect"
import { Chance } from "../../samples/branded-foods/chance.ts"
import { type columns, type Kind, kinds, type TextFilter, type Texts, textsOf } from "./texts.ts"
import type { Warehouse } from "./warehouse.ts"

export interface Question {
  /** What the table calls it: filter and kind of text. */
  readonly group: string
  readonly query: Readonly<Record<string, string>>
}

export type AllTexts = Readonly<Record<TextFilter, Texts>>

const Labelled = Schema.Struct({ category: Schema.String, upc: Schema.String })
const labelled = `
  select coalesce(category, '') as category, coalesce(upc, '') as upc
  from branded_food.current_food
  where category is not null and upc is not null
  order by hash(fdc_id)
  limit 40`

export const allTexts = async (warehouse: Warehouse, foods: number): Promise<AllTexts> => ({
  name: await textsOf(warehouse, "name", foods),
  brand: await textsOf(warehouse, "brand", foods),
  ingredient: await textsOf(warehouse, "ingredient", foods)
})

const filters = ["name", "brand", "ingredient"] as const satisfies ReadonlyArray<keyof typeof columns>

const alone = (texts: AllTexts) =>
  filters.flatMap((filter) =>
    (Object.keys(kinds) as ReadonlyArray<Kind>) // keys of a literal
      .flatMap((kind) =>
        texts[filter][kind].map((text): Question => ({ group: `${filter}: ${kind}`, query: { [filter]: text } }))
      )
  )

/** The shorter list is repeated: what matters is that no pair comes twice. */
const paired = (group: string, a: string, as: ReadonlyArray<string>, b: string, bs: ReadonlyArray<string>) =>
  Array.from(
    { length: as.length === 0 || bs.length === 0 ? 0 : Math.max(as.length, bs.length) },
    (_, i): Question => ({ group, query: { [a]: as[i % as.length] ?? "", [b]: bs[i % bs.length] ?? "" } })
  )

/** In an order that mixes all kinds. */
export const questionsOf = async (warehouse: Warehouse, texts: AllTexts): Promise<ReadonlyArray<Question>> => {
  const some = await warehouse.all(Labelled, labelled)
  const categories = [...new Set(some.map(({ category }) => category))]
  const barcodes = some.map(({ upc }) => upc)
  const { brand, ingredient, name } = texts
  const questions = [
    { group: "no filter", query: {} },
    ...alone(texts),
    ...categories.map((category) => ({ group: "category", query: { category } })),
    ...barcodes.map((barcode) => ({ group: "barcode", query: { barcode } })),
    ...barcodes.map((barcode) => ({ group: "barcode: absent", query: { barcode: `9${barcode.slice(1)}` } })),
    ...paired("name: common, ingredient: common", "name", name.common, "ingredient", ingredient.common),
    ...paired("name: common, ingredient: rare", "name", name.common, "ingredient", ingredient.rare),
    ...paired("name: medium, brand: common", "name", name.medium, "brand", brand.common),
    ...paired("brand: common, ingredient: medium", "brand", brand.common, "ingredient", ingredient.medium),
    ...paired("brand: medium, ingredient: apart", "brand", brand.medium, "ingredient", ingredient.apart),
    ...paired("name: common, category", "name", name.common, "category", categories),
    ...paired("ingredient: common, category", "ingredient", ingredient.common, "category", categories),
    ...paired("ingredient: common, barcode", "ingredient", ingredient.common, "barcode", barcodes)
  ]
  const chance = new Chance().start(3, 1, 1)
  return questions
    .map((question) => ({ question, place: chance.bits() }))
    .sort((a, b) => a.place - b.place)
    .map(({ question }) => question)
}
