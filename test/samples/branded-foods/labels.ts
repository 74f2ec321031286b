/**
 * Releases of any size, for tests and benchmarks. The bundled release was drawn here, too, and is now edited by hand.
 *
 * Draws label versions. Fixed facts (name, maker, barcode, category) depend only on the product, others (amounts,
 * ingredients, dates) also on the release. So both forms have the same labels, and each can be drawn separately.
 */
import { drawAmounts } from "./amounts.ts"
import { Chance, hashNumbers } from "./chance.ts"
import { drawDetails } from "./details.ts"
import { makeGtin } from "./gtin.ts"
import { drawIngredients } from "./ingredients.ts"
import type { Headline, Label, LoggedChange } from "./label.ts"
import { drawMaker, inventWords } from "./makers.ts"
import { drawName } from "./names.ts"
import { Plan, type ReleaseSize } from "./plan.ts"
import { drawCategory } from "./shelves.ts"

export type { ReleaseSize } from "./plan.ts"

const changeNames: ReadonlyArray<readonly [string, string]> = [
  ["Description", "2"],
  ["Nutrient Updated", "4"],
  ["Nutrient Added", "5"],
  ["Nutrient Removed", "6"]
]

/** Streams of random numbers. */
const purpose = { product: 11, changes: 12, source: 13, gtin: 14, words: 15, label: 16, ingredients: 17, amounts: 18 }
const threeDigitsFrom = 3 // releases before this one (November 2020) had two decimals

export class Labels {
  readonly plan: Plan
  private readonly words: ReadonlyArray<string>
  private readonly chance: Chance

  constructor(size: ReleaseSize) {
    this.plan = new Plan(size)
    this.words = inventWords(size.vocabulary)
    this.chance = new Chance(size.oddities)
  }

  /** The LI product of which this one is the GDSN twin, otherwise the product itself. One in a hundred has a twin. */
  private findContent(product: number) {
    return product % 2 === 1 && this.hash(purpose.source, product) % 50 === 0 ? product - 1 : product
  }

  private hash(stream: number, product: number, wave = 0) {
    return hashNumbers(this.plan.size.seed, stream, product, wave)
  }

  private start(stream: number, product: number, wave = 0) {
    return this.chance.start(this.plan.size.seed, stream, product, wave)
  }

  private drawSource(product: number) {
    if (this.findContent(product) !== product) return "GDSN"
    if (product % 2 === 0 && this.findContent(product + 1) === product) return "LI"
    const share = (this.hash(purpose.source, product) >>> 8) / 16_777_216
    if (share < 0.0007 * this.plan.size.oddities) return "NZGDSN"
    return share < 0.053 ? "GDSN" : "LI"
  }

  private findGtin(product: number, source: string) {
    const content = this.findContent(product)
    if (content === product) return makeGtin(product, source, this.plan.size.seed, this.start(purpose.gtin, product))
    return makeGtin(content, "LI", this.plan.size.seed, this.start(purpose.gtin, content)).padStart(14, "0")
  }

  private drawWord(chance: Chance) {
    return this.words[chance.zipf(this.words.length)] ?? ""
  }

  private drawProduct(product: number) {
    const chance = this.start(purpose.product, this.findContent(product))
    const { category, shelf } = drawCategory(chance)
    const maker = drawMaker(chance)
    const { name, short } = drawName(chance, shelf, maker.brand, this.drawWord(chance))
    return { category, shelf, maker, name, short }
  }

  private drawChanges(product: number, wave: number, fdc_id: number): ReadonlyArray<LoggedChange> {
    if (this.plan.isFirst(product, wave)) return []
    const hash = this.hash(purpose.changes, product, wave)
    return changeNames.flatMap(([name, value], i) =>
      (hash >>> (4 * i)) % 16 < 5 ? [{ id: fdc_id * 4 + i, name, value }] : []
    )
  }

  /** The first version often has only a short name: `HOT SAUCE` became `PINEAPPLE & ORANGE HABANERO HOT SAUCE`. */
  drawHeadline(product: number, wave: number, { name, short } = this.drawProduct(product)): Headline {
    const isEarly = this.plan.isFirst(product, wave) && wave !== this.plan.findCurrent(product)
    const fdc_id = this.plan.getFdcId(product, wave)
    return {
      fdc_id,
      description: isEarly && this.hash(purpose.words, product) % 4 === 0 ? short : name,
      published: this.plan.getPublished(product, wave),
      changes: this.drawChanges(product, wave, fdc_id)
    }
  }

  drawLabel(product: number, wave: number): Label {
    const drawn = this.drawProduct(product)
    const head = this.drawHeadline(product, wave, drawn)
    const data_source = this.drawSource(product)
    const gtin_upc = this.findGtin(product, data_source)
    const formula = wave >> 2 // recipes change every few releases
    const ingredientsChance = this.start(purpose.ingredients, this.findContent(product), formula)
    const ingredients = drawIngredients(ingredientsChance, drawn.shelf, this.drawWord(ingredientsChance))
    const { serving, size, omitsBrand, omitsCategory, ...described } = drawDetails(
      this.start(purpose.label, product, wave),
      this.plan,
      { product, wave, shelf: drawn.shelf, source: data_source }
    )
    const amounts = drawAmounts({
      chance: this.start(purpose.amounts, product, formula),
      firstId: head.fdc_id * 64,
      serving: serving.digits / (serving.scale === 1 ? 10 : 1),
      hasThreeDigits: wave >= threeDigitsFrom,
      isPerHundred: data_source !== "LI" && product % 3 === 0
    })
    return {
      ...head,
      ...described,
      serving,
      serving_size: size,
      brand_owner: data_source === "GDSN" && wave >= 15 && product % 5 === 0 ? "" : drawn.maker.owner,
      gtin_upc,
      ingredients,
      category: omitsCategory ? "" : drawn.category,
      brand_name: omitsBrand ? "" : drawn.maker.brand,
      data_source,
      available: this.plan.getAvailable(product, wave),
      gpc_class_code: data_source === "LI" ? 0 : drawn.shelf.gpc,
      amounts
    }
  }

  /** Every label version, by ascending `fdc_id`. */
  *drawAll(): Generator<Label> {
    for (let wave = 0; wave < this.plan.releases; wave++)
      for (let product = 0; product < this.plan.products; product++)
        if (this.plan.has(product, wave)) yield this.drawLabel(product, wave)
  }

  /** The current version of each product, by ascending `fdc_id`, with its older ones, newest first. */
  *drawCurrent(): Generator<{ readonly label: Label; readonly older: ReadonlyArray<Headline> }> {
    for (let wave = 0; wave < this.plan.releases; wave++)
      for (let product = 0; product < this.plan.products; product++)
        if (this.plan.has(product, wave) && this.plan.findCurrent(product) === wave)
          yield {
            label: this.drawLabel(product, wave),
            older: this.plan.listOlder(product).map((earlier) => this.drawHeadline(product, earlier))
          }
  }
}
