/**
 * Finds texts to search for in the labels. The frequency of words is estimated from a sample. Rare and absent texts are
 * counted in all labels.
 */
import { literal } from "@larder/warehouse"
import { Schema } from "effect"
import { Chance } from "../../samples/branded-foods/chance.ts"
import type { Warehouse } from "./warehouse.ts"

export const kinds = {
  common: "in more than 5 % of the labels",
  medium: "in 0.1 to 1 %",
  rare: "in 1 to 20 labels",
  absent: "in none",
  blank: "two neighbouring words",
  comma: "two words across a comma",
  apart: "two common words that never appear together",
  short: "one or two characters"
}
export type Kind = keyof typeof kinds
export type Texts = Readonly<Record<Kind, ReadonlyArray<string>>>

export const columns = {
  name: "description",
  brand: "concat_ws(chr(10), brand_owner, brand_name, subbrand_name)",
  ingredient: "ingredients"
}
export type TextFilter = keyof typeof columns

const perKind = 40

const Word = Schema.Struct({ word: Schema.String, labels: Schema.Int })
const Phrase = Schema.Struct({ phrase: Schema.String })
const Sample = Schema.Struct({ labels: Schema.Int })
const Counts = Schema.Struct({ counts: Schema.Array(Schema.Int) })

const selectTexts = (column: string) => `select lower(${column}) as text from branded_food.current_food`
/** About `size` labels, the same ones each time. */
const selectSample = (column: string, foods: number, size: number) =>
  `${selectTexts(column)} where hash(fdc_id) % ${Math.max(1, Math.round(foods / size))} = 0`

const shuffle = <A>(list: Iterable<A>, chance: Chance): Array<A> => {
  const all = [...list]
  for (let last = all.length - 1; last > 0; last--) {
    const other = chance.below(last + 1)
    const [a, b] = [all[last], all[other]]
    if (a !== undefined && b !== undefined) [all[last], all[other]] = [b, a]
  }
  return all
}

/** Parts of at least three letters. All parts of a common word are common. */
const listParts = (word: string) => {
  const parts: Array<string> = []
  for (let from = 0; from + 3 <= word.length; from++) {
    for (let to = from + 3; to <= word.length; to++) parts.push(word.slice(from, to))
  }
  return parts
}

/** Number of labels that contain each text, in one scan. */
const countLabels = async ({ all }: Warehouse, column: string, texts: ReadonlyArray<string>) => {
  if (texts.length === 0) return []
  const columns = texts.map((text) => `count(*) filter (contains(text, ${literal(text)}))::integer`)
  const [row] = await all(Counts, `select [${columns.join(", ")}] as counts from (${selectTexts(column)})`)
  return row?.counts ?? []
}

const findWithCount = async (
  warehouse: Warehouse,
  column: string,
  texts: ReadonlyArray<string>,
  min: number,
  max: number
) => {
  const counts = await countLabels(warehouse, column, texts)
  return texts
    .filter((_, i) => (counts[i] ?? 0) >= min && (counts[i] ?? Number.POSITIVE_INFINITY) <= max)
    .slice(0, perKind)
}

/** `separator` is a regular expression. */
const findPhrases = async ({ all }: Warehouse, column: string, separator: string, foods: number) => {
  const phrases = await all(
    Phrase,
    `select distinct phrase from (
       select regexp_extract(text, '[a-z]{3,}${separator}[a-z]{3,}') as phrase from (${selectSample(column, foods, 2_000)})
     ) where phrase <> '' order by hash(phrase) limit ${perKind}`
  )
  return phrases.map(({ phrase }) => phrase)
}

export const findTexts = async (warehouse: Warehouse, filter: TextFilter, foods: number): Promise<Texts> => {
  const chance = new Chance().start(2, 1, Object.keys(columns).indexOf(filter))
  const column = columns[filter]
  const sample = selectSample(column, foods, 40_000)
  const [size = { labels: 1 }] = await warehouse.all(
    Sample,
    `select count(*)::integer as labels from (${sample}) where text is not null`
  )
  const words = await warehouse.all(
    Word,
    `select word, count(*)::integer as labels
     from (select unnest(list_distinct(regexp_extract_all(text, '[a-z]{3,}'))) as word from (${sample}))
     group by word
     order by word`
  )
  const between = (min: number, max: number) =>
    words.filter(({ labels }) => labels / size.labels > min && labels / size.labels <= max).map(({ word }) => word)
  const common = between(0.05, 1)
  const rareWords = words.filter(({ labels }) => labels <= 2).map(({ word }) => word)
  const pairs = common.flatMap((a) => common.map((b) => `${a} ${b}`))
  const inventWord = () => Array.from({ length: 4 }, () => chance.pick(["qu", "zo", "xi", "vy", "wub", "jek"])).join("")
  const letters = "abcdefghijklmnopqrstuvwxyz%,('-"
  return {
    common: shuffle(new Set(common.flatMap(listParts)), chance).slice(0, perKind),
    medium: shuffle(between(0.001, 0.01), chance).slice(0, perKind),
    rare: await findWithCount(warehouse, column, shuffle(rareWords, chance).slice(0, 3 * perKind), 1, 20),
    absent: await findWithCount(warehouse, column, [...new Set(Array.from({ length: perKind }, inventWord))], 0, 0),
    blank: await findPhrases(warehouse, column, " ", foods),
    comma: await findPhrases(warehouse, column, ", ", foods),
    apart: await findWithCount(warehouse, column, shuffle(pairs, chance).slice(0, 2 * perKind), 0, 0),
    short: shuffle(
      [...letters].flatMap((a) => [a, ...[...letters].map((b) => a + b)]),
      chance
    ).slice(0, perKind)
  }
}
