/** Searches of every kind: each filter by itself, and pairs of filters. */
import { Schema } from "effect"
import { Chance } from "../../samples/branded-foods/chance.ts"
import { type columns, findTexts, type Kind, kinds, type TextFilter, type Texts } from "./texts.ts"
import type { Warehouse } from "./warehouse.ts"

export interface Search {
  /** Filter and kind of text, as in the tables. */
  readonly group: string
  readonly query: Readonly<Record<string, string>>
}

export type AllTexts = Readonly<Record<TextFilter, Texts>>

const LabelRow = Schema.Struct({ category: Schema.String, upc: Schema.String })
const labelRows = `
  select coalesce(category, '') as category, coalesce(upc, '') as upc
  from branded_food.current_food
  where category is not null and upc is not null
  order by hash(fdc_id)
  limit 40`

export const findAllTexts = async (warehouse: Warehouse, foods: number): Promise<AllTexts> => ({
  name: await findTexts(warehouse, "name", foods),
  brand: await findTexts(warehouse, "brand", foods),
  ingredient: await findTexts(warehouse, "ingredient", foods)
})

const filters = ["name", "brand", "ingredient"] as const satisfies ReadonlyArray<keyof typeof columns>

const searchesByOneFilter = (texts: AllTexts) =>
  filters.flatMap((filter) =>
    (Object.keys(kinds) as ReadonlyArray<Kind>) // keys of a literal
      .flatMap((kind) =>
        texts[filter][kind].map((text): Search => ({ group: `${filter}: ${kind}`, query: { [filter]: text } }))
      )
  )

/** Pairs of two lists, without repeating a pair. The shorter list is repeated. */
const pairUp = (group: string, a: string, as: ReadonlyArray<string>, b: string, bs: ReadonlyArray<string>) =>
  Array.from(
    { length: as.length === 0 || bs.length === 0 ? 0 : Math.max(as.length, bs.length) },
    (_, i): Search => ({ group, query: { [a]: as[i % as.length] ?? "", [b]: bs[i % bs.length] ?? "" } })
  )

/** All searches, in an order that mixes the kinds. */
export const findSearches = async (warehouse: Warehouse, texts: AllTexts): Promise<ReadonlyArray<Search>> => {
  const rows = await warehouse.all(LabelRow, labelRows)
  const categories = [...new Set(rows.map(({ category }) => category))]
  const barcodes = rows.map(({ upc }) => upc)
  const { brand, ingredient, name } = texts
  const searches = [
    { group: "no filter", query: {} },
    ...searchesByOneFilter(texts),
    ...categories.map((category) => ({ group: "category", query: { category } })),
    ...barcodes.map((barcode) => ({ group: "barcode", query: { barcode } })),
    ...barcodes.map((barcode) => ({ group: "barcode: absent", query: { barcode: `9${barcode.slice(1)}` } })),
    ...pairUp("name: common, ingredient: common", "name", name.common, "ingredient", ingredient.common),
    ...pairUp("name: common, ingredient: rare", "name", name.common, "ingredient", ingredient.rare),
    ...pairUp("name: medium, brand: common", "name", name.medium, "brand", brand.common),
    ...pairUp("brand: common, ingredient: medium", "brand", brand.common, "ingredient", ingredient.medium),
    ...pairUp("brand: medium, ingredient: apart", "brand", brand.medium, "ingredient", ingredient.apart),
    ...pairUp("name: common, category", "name", name.common, "category", categories),
    ...pairUp("ingredient: common, category", "ingredient", ingredient.common, "category", categories),
    ...pairUp("ingredient: common, barcode", "ingredient", ingredient.common, "barcode", barcodes)
  ]
  const chance = new Chance().start(3, 1, 1)
  return searches
    .map((search) => ({ search, rank: chance.bits() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ search }) => search)
}
