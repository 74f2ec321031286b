/**
 * Label versions. What a product is (name, maker, barcode, category) follows from the product, what changes (first name, amounts,
 * ingredients, dates) also from the release; so both forms of a release state the same labels, and no label needs another one.
 */

import { amountsOf, type StatedAmount } from "./amounts.ts"
import { Chance, hashOf, Weighted } from "./chance.ts"
import { americanDate, isoDate } from "./days.ts"
import type { Decimal } from "./decimals.ts"
import { gtinOf } from "./gtin.ts"
import { drawIngredients } from "./ingredients.ts"
import { drawMaker, madeUpWords } from "./makers.ts"
import { drawName } from "./names.ts"
import { Plan, type ReleaseSize } from "./plan.ts"
import { drawServing, drawUnit, households, weights } from "./servings.ts"
import { drawCategory, type Shelf } from "./shelves.ts"

export type { ReleaseSize } from "./plan.ts"

export interface LoggedChange {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** What the update log of a newer version repeats. */
export interface Headline {
  readonly fdc_id: number
  readonly description: string
  /** Days since 2014-01-01, as all days here. */
  readonly published: number
  readonly changes: ReadonlyArray<LoggedChange>
}

/** Empty text: not stated. */
export interface Label extends Headline {
  readonly short_description: string
  readonly brand_owner: string
  readonly brand_name: string
  readonly subbrand_name: string
  readonly gtin_upc: string
  readonly ingredients: string
  /** CSV only. */
  readonly not_a_significant_source_of: string
  /** Cleaned; zero where the label lost it. */
  readonly serving: Decimal
  /** As published, now and then with the noise of a 32-bit float. */
  readonly serving_size: string
  readonly serving_size_unit: string
  readonly household_serving_fulltext: string
  readonly category: string
  /** The CSV has the category in `food.csv` instead of `branded_food.csv`. */
  readonly categoryOnlyInFood: boolean
  readonly data_source: string
  readonly package_weight: string
  /** -1: not stated. */
  readonly modified: number
  readonly available: number
  readonly discontinued: number
  readonly market_country: string
  readonly preparation_state_code: string
  readonly trade_channels: ReadonlyArray<string>
  readonly material_code: string
  /** JSON only, as the next two; 0: not stated. */
  readonly gpc_class_code: number
  readonly caffeine_statement: string
  readonly footnote: string
  /** `labelNutrients` of the JSON is empty although amounts are stated. */
  readonly withoutLabelNutrients: boolean
  /** The CSV spells the publication date `M/D/YYYY`. */
  readonly americanDates: boolean
  readonly amounts: ReadonlyArray<StatedAmount>
}

const preparations = new Weighted<string>([
  ["UNPREPARED", 173],
  ["PREPARED", 23],
  ["READY_TO_DRINK", 17],
  ["READY_TO_EAT", 13],
  ["BAKE", 5],
  ["GRILL", 1]
])
const channels = new Weighted<ReadonlyArray<string>>([
  [["GROCERY"], 46],
  [["CHILD_NUTRITION_FOOD_PROGRAMS"], 21],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "GROCERY"], 5],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "FOOD_SERVICE", "ONLINE"], 5],
  [["GROCERY", "CHILD_NUTRITION_FOOD_PROGRAMS"], 3],
  [["ONLINE", "GROCERY"], 3],
  [["CHILD_NUTRITION_FOOD_PROGRAMS", "CHILD_NUTRITION_FOOD_PROGRAMS"], 2],
  [["GROCERY", "GROCERY"], 2],
  [["CONVENIENCE", "FOOD_SERVICE", "GROCERY", "ONLINE"], 2],
  [["FOOD_SERVICE", "DRUG", "MILITARY", "VENDING"], 1],
  [["ONLINE", "MASS_MERCHANDISING"], 1]
])
const subbrands = ["ORGANIC", "FRESH", "CHUNKY", "CONDENSED", "BAKERY", "SELECTS", "DAIRY FARMS", "SIGNATURE"]
const insignificant = [
  "SATURATED FAT, TRANS FAT, CHOLESTEROL, DIETARY FIBER, VITAMIN D, CALCIUM, IRON AND POTASSIUM.",
  "CALORIES FROM FAT, SATURATED FAT, TRANS FAT, CHOLESTEROL, DIETARY FIBER, VITAMIN A, VITAMIN C, CALCIUM AND IRON.",
  "DIETARY FIBER, SUGARS, VITAMIN A AND VITAMIN C.",
  "OTHER NUTRIENTS."
]
const changeNames: ReadonlyArray<readonly [string, string]> = [
  ["Description", "2"],
  ["Nutrient Updated", "4"],
  ["Nutrient Added", "5"],
  ["Nutrient Removed", "6"]
]

/** Streams of chance. */
const purpose = { product: 11, changes: 12, source: 13, gtin: 14, words: 15, label: 16, ingredients: 17, amounts: 18 }
const threeDigitsFrom = 3 // releases before this one (November 2020) had two decimals

export class Labels {
  readonly plan: Plan
  private readonly words: ReadonlyArray<string>
  private readonly chance: Chance

  constructor(size: ReleaseSize) {
    this.plan = new Plan(size)
    this.words = madeUpWords(size.vocabulary)
    this.chance = new Chance(size.oddities)
  }

  /** The LI product that this one is the GDSN twin of, or itself. One product in a hundred has a twin. */
  private content(product: number) {
    return product % 2 === 1 && this.hash(purpose.source, product) % 50 === 0 ? product - 1 : product
  }

  private hash(why: number, product: number, wave = 0) {
    return hashOf(this.plan.size.seed, why, product, wave)
  }

  private start(why: number, product: number, wave = 0) {
    return this.chance.start(this.plan.size.seed, why, product, wave)
  }

  private source(product: number) {
    if (this.content(product) !== product) return "GDSN"
    if (product % 2 === 0 && this.content(product + 1) === product) return "LI"
    const share = (this.hash(purpose.source, product) >>> 8) / 16_777_216
    if (share < 0.0007 * this.plan.size.oddities) return "NZGDSN"
    return share < 0.053 ? "GDSN" : "LI"
  }

  private gtin(product: number, source: string) {
    const content = this.content(product)
    if (content === product) return gtinOf(product, source, this.plan.size.seed, this.start(purpose.gtin, product))
    return gtinOf(content, "LI", this.plan.size.seed, this.start(purpose.gtin, content)).padStart(14, "0")
  }

  private word(chance: Chance) {
    return this.words[chance.zipf(this.words.length)] ?? ""
  }

  private product(product: number) {
    const chance = this.start(purpose.product, this.content(product))
    const { category, shelf } = drawCategory(chance)
    const maker = drawMaker(chance)
    const { name, short } = drawName(chance, shelf, maker.brand, this.word(chance))
    return { category, shelf, maker, name, short }
  }

  private changes(product: number, wave: number, fdc_id: number): ReadonlyArray<LoggedChange> {
    if (this.plan.isFirst(product, wave)) return []
    const hash = this.hash(purpose.changes, product, wave)
    return changeNames.flatMap(([name, value], i) =>
      (hash >>> (4 * i)) % 16 < 5 ? [{ id: fdc_id * 4 + i, name, value }] : []
    )
  }

  /** A product's first version often has the short name only, as `HOT SAUCE` became `PINEAPPLE & ORANGE HABANERO HOT SAUCE`. */
  headline(product: number, wave: number, { name, short } = this.product(product)): Headline {
    const isEarly = this.plan.isFirst(product, wave) && wave !== this.plan.current(product)
    const fdc_id = this.plan.fdcId(product, wave)
    return {
      fdc_id,
      description: isEarly && this.hash(purpose.words, product) % 4 === 0 ? short : name,
      published: this.plan.published(product, wave),
      changes: this.changes(product, wave, fdc_id)
    }
  }

  label(product: number, wave: number): Label {
    const made = this.product(product)
    const head = this.headline(product, wave, made)
    const data_source = this.source(product)
    const gtin_upc = this.gtin(product, data_source)
    const formula = wave >> 2 // recipes change every few releases
    const ingredientsChance = this.start(purpose.ingredients, this.content(product), formula)
    const ingredients = drawIngredients(ingredientsChance, made.shelf, this.word(ingredientsChance))
    const { serving, size, withoutBrand, withoutCategory, ...described } = this.describe(
      product,
      wave,
      made.shelf,
      data_source
    )
    const amounts = amountsOf({
      chance: this.start(purpose.amounts, product, formula),
      firstId: head.fdc_id * 64,
      serving: serving.digits / (serving.scale === 1 ? 10 : 1),
      threeDigits: wave >= threeDigitsFrom,
      perHundred: data_source !== "LI" && product % 3 === 0
    })
    return {
      ...head,
      ...described,
      serving,
      serving_size: size,
      brand_owner: data_source === "GDSN" && wave >= 15 && product % 5 === 0 ? "" : made.maker.owner,
      gtin_upc,
      ingredients,
      category: withoutCategory ? "" : made.category,
      brand_name: withoutBrand ? "" : made.maker.brand,
      data_source,
      available: this.plan.available(product, wave),
      gpc_class_code: data_source === "LI" ? 0 : made.shelf.gpc,
      amounts
    }
  }

  private describe(product: number, wave: number, shelf: Shelf, source: string) {
    const chance = this.start(purpose.label, product, wave)
    const isGdsn = source === "GDSN"
    const isPrepared = isGdsn && chance.happens(0.43)
    const isNewZealand = source === "NZGDSN"
    const category = chance.unit()
    const day = this.plan.modified(product, wave)
    const isDiscontinued = chance.happens(0.05) && wave === this.plan.current(product)
    const caffeinated = shelf.liquid && source !== "LI" && chance.odd(0.06)
    const liquid = shelf.liquid && chance.happens(0.75)
    const country = isGdsn && wave >= 15 ? "US" : "United States"
    return {
      ...drawServing(chance, liquid),
      serving_size_unit: drawUnit(chance, liquid, wave),
      withoutBrand: chance.happens(isGdsn ? 0.33 : 0.28),
      subbrand_name: chance.happens(0.05) ? (subbrands[chance.below(subbrands.length)] ?? "") : "",
      short_description: isPrepared ? shelf.nouns[0].replaceAll(/[AEIOU]/g, "") : "",
      not_a_significant_source_of:
        source === "LI" && chance.happens(0.043)
          ? `NOT A SIGNIFICANT SOURCE OF ${insignificant[chance.below(insignificant.length)]}`
          : "",
      household_serving_fulltext: chance.happens(isGdsn ? 0.74 : 0.43) ? households.draw(chance) : "",
      withoutCategory: isGdsn && category < 0.1,
      categoryOnlyInFood: wave >= 13 && category > 0.97,
      package_weight: chance.happens(isGdsn ? 0.55 : 0.41) ? weights.draw(chance) : "",
      modified: wave < 13 && chance.odd(0.0001) ? -1 : day,
      discontinued: isDiscontinued ? this.plan.published(product, wave) + chance.below(60) : -1,
      market_country: isNewZealand ? "New Zealand" : country,
      preparation_state_code: isPrepared ? preparations.draw(chance) : "",
      trade_channels: isGdsn && chance.happens(0.187) ? channels.draw(chance) : [],
      material_code: isGdsn && chance.odd(0.02) ? "PLASTIC_OTHER" : "",
      caffeine_statement: caffeinated ? `CONTAINS CAFFEINE: ${10 * (1 + chance.below(16))} MG PER SERVING` : "",
      footnote: chance.happens(0.004) ? "*PERCENT DAILY VALUES ARE BASED ON A 2,000 CALORIE DIET." : "",
      withoutLabelNutrients: chance.happens(0.005),
      americanDates: chance.happens(0.01)
    }
  }

  /** Every label version, ascending `fdc_id`. */
  *all(): Generator<Label> {
    for (let wave = 0; wave < this.plan.releases; wave++)
      for (let product = 0; product < this.plan.products; product++)
        if (this.plan.has(product, wave)) yield this.label(product, wave)
  }

  /** The current version of each product with its older ones, newest first; ascending `fdc_id`. */
  *current(): Generator<{ readonly label: Label; readonly older: ReadonlyArray<Headline> }> {
    for (let wave = 0; wave < this.plan.releases; wave++)
      for (let product = 0; product < this.plan.products; product++)
        if (this.plan.has(product, wave) && this.plan.current(product) === wave)
          yield {
            label: this.label(product, wave),
            older: this.plan.older(product).map((earlier) => this.headline(product, earlier))
          }
  }
}

/** Every label version of a release, ascending `fdc_id`. */
export const labels = (size: ReleaseSize): Iterable<Label> => new Labels(size).all()

export const dateText = (day: number, american: boolean) => {
  if (day < 0) return ""
  return american ? americanDate(day) : isoDate(day)
}
