/**
 * The index only saves work: what the search answers, page by page, is what a plain scan of all current labels finds. Texts
 * are cut out of the published labels themselves, anywhere, and some are changed so that they are just not there.
 */
import fc from "fast-check"
import { beforeAll, expect, inject, it } from "vitest"
import { createKey, operate } from "../support/api/operator.ts"
import { pagesOf } from "../support/api/pages.ts"
import { servedAlone } from "../support/api/served.ts"
import { aLabel, ingestLabels } from "../support/label-releases.ts"
import { copyHome } from "../support/sample-home.ts"

const seed = 20261004
const searches = 200

interface Food {
  readonly fdc_id: number
  readonly description: string
  readonly brand_owner: string | null
  readonly brand_name: string | null
  readonly subbrand_name: string | null
  readonly category: string | null
  readonly ingredients: string | null
}
type Filters = Readonly<Partial<Record<"name" | "brand" | "category" | "ingredient", string>>>

/** Words and what may stand between them, unlike the samples, which have little but ASCII. */
const words =
  'SALT sugar Malt a b % _ 100% \\ * Käse KÄSE İstanbul ΟΔΟΣ œuf 😀 ß O\'Neil "X" 燕麦 […] fi 0 1 é e\u0301'.split(" ")
const separators = [" ", ", ", " (", "). ", "-", "; ", "%", "_", "\\", "*", "'", '"', "/", " & ", ""]
const nasty = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(...separators)), { minLength: 1, maxLength: 14 })
  .map((pairs) => pairs.flat().join(""))
const nastyLabels = fc
  .sample(fc.record({ description: nasty, brand_owner: nasty, brand_name: nasty, ingredients: nasty }), {
    numRuns: 150,
    seed
  })
  .map((texts, index) =>
    aLabel({ ...texts, fdc_id: 4_000_000 + 7 * index, branded_food_category: index % 2 === 0 ? "Käse" : "KÄSE" })
  )

const api = servedAlone({
  home: async () => {
    const home = copyHome(inject("sampleHome"))
    await ingestLabels(home, "json", nastyLabels)
    return home
  }
})

let foods: ReadonlyArray<Food>
let key: string
beforeAll(async () => {
  const created = await createKey(api.home())
  await operate(api.home(), (ledger) =>
    ledger.creditAccount({ account_id: created.account_id, credits: 90_000, note: "searches" })
  )
  key = created.key
  foods = (await allOf({})) as ReadonlyArray<Food>
})

const encoded = (filters: Filters) =>
  Object.entries(filters)
    .map(([name, text]) => `&${name}=${encodeURIComponent(text)}`)
    .join("")
const allOf = async (filters: Filters, limit = 200) =>
  (await pagesOf((target) => api.get(target, { key }), `/v1/branded-foods?limit=${limit}${encoded(filters)}`)).flat()

const contains = (texts: ReadonlyArray<string | null>, filter: string | undefined) =>
  filter === undefined || filter === "" || texts.some((text) => text?.toLowerCase().includes(filter.toLowerCase()))

const scan = ({ brand, category, ingredient, name }: Filters) =>
  foods.filter(
    (food) =>
      contains([food.description], name) &&
      contains([food.brand_owner, food.brand_name, food.subbrand_name], brand) &&
      contains([food.ingredients], ingredient) &&
      (category === undefined || category === "" || food.category?.toLowerCase() === category.toLowerCase())
  )

const textsFor = {
  name: ({ description }: Food) => [description],
  brand: ({ brand_name, brand_owner, subbrand_name }: Food) => [brand_owner, brand_name, subbrand_name],
  ingredient: ({ ingredients }: Food) => [ingredients]
}
const textFilters = ["name", "brand", "ingredient"] as const

/** One character, two, a part of a word, some words with what is between them, or all of it. */
const length = fc.oneof(
  fc.constant(1),
  fc.constant(2),
  fc.integer({ min: 3, max: 6 }),
  fc.integer({ min: 7, max: 40 }),
  fc.constant(5000)
)
/** Half of the labels are the nasty ones, which are the last. */
const place = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0.95, max: 1, noNaN: true }))
type Change = (text: string) => string
const change = fc.constantFrom<Array<Change>>(
  (text) => text,
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => `${text}%`,
  (text) => text.replace(/ /, "_"),
  (text) => text.replace(/, /, " ")
)

/** A cut out of one text of the label at `place`; "" where it states none. */
const cut = fc
  .record({
    filter: fc.constantFrom(...textFilters),
    place,
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    length,
    change
  })
  .map((drawn) => ({
    filter: drawn.filter,
    of: (food: Food) => {
      const texts = textsFor[drawn.filter](food).filter((text) => text !== null)
      const characters = [...(texts[Math.floor(drawn.from * texts.length * 0.999)] ?? "")]
      const from = Math.floor(drawn.from * Math.max(0, characters.length - drawn.length + 1))
      return drawn.change(characters.slice(from, from + drawn.length).join(""))
    },
    place: drawn.place
  }))
const drawnFilters = fc
  .record({ cuts: fc.array(cut, { minLength: 1, maxLength: 3 }), byCategory: fc.nat(4) })
  .map(({ byCategory, cuts }) => {
    // texts of one label, so that combinations are not always empty
    const food = foods[Math.floor((cuts[0]?.place ?? 0) * (foods.length - 1))]
    if (food === undefined) throw new Error("there are foods")
    const filters = Object.fromEntries(cuts.map(({ filter, of }) => [filter, of(food)]))
    return byCategory === 0 && food.category !== null ? { ...filters, category: food.category.toUpperCase() } : filters
  })

it("answers all labels without filters, the nasty ones among them", () => {
  const nastyIds = foods.filter(({ fdc_id }) => fdc_id >= 4_000_000).map(({ fdc_id }) => fdc_id)
  expect(nastyIds).toEqual(nastyLabels.map(({ fdc_id }) => fdc_id))
  expect(foods.length).toBeGreaterThan(700)
})

it(`finds what a plain scan finds, for ${searches} random combinations of filters`, async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(drawnFilters, async (filters) => {
      const expected = scan(filters)
      found += expected.length > 0 ? 1 : 0
      expect(await allOf(filters)).toEqual(expected)
    }),
    { seed, numRuns: searches, endOnFailure: true }
  )
  expect(found, "most texts are there").toBeGreaterThan(searches / 2)
})

it.each(["%", "_", "\\", "*", '"', "'", ",", " ", "e", "ß", "ä", "é", "i\u0307", "😀", "燕", "σ", "ς", "10", "0%"])(
  "finds what a plain scan finds, page by page: '%s'",
  async (text) => {
    for (const filter of textFilters) {
      const expected = scan({ [filter]: text })
      const limit = Math.max(3, Math.ceil(expected.length / 4))
      expect(await allOf({ [filter]: text }, Math.min(limit, 200))).toEqual(expected)
    }
  }
)
