/**
 * Plans which versions exist. Every product appears in at least one release, and in each other release with a
 * probability that follows from the share of that release. An `fdc_id` follows from (release, product), so each version
 * can be generated separately. Ids grow from release to release. For 1 % of the products the last two publication dates
 * are swapped, so that the newest id is not the newest label; for another 1 % the last two versions have the same day.
 */
import { hashNumbers } from "./chance.ts"
import { parseDay } from "./days.ts"

export interface ReleaseSize {
  /** Number of label versions: rows of the CSV. */
  readonly foods: number
  /** Mean number of versions of a product, at most 6. With 1, every food is current. The real mean is about 3.8. */
  readonly versions_per_product: number
  readonly seed: number
  /** Number of invented words. The last ones are very rare. */
  readonly vocabulary: number
  /** Factor for the frequency of rare oddities: 1 as in the source, 8 to see them in a few thousand foods. */
  readonly oddities: number
  /** Day of the release, in ISO format, not before 2019-04-01. */
  readonly released_on: string
}

/** Publication days of the source with their share of the versions, and roughly the first `fdc_id` of that time. */
const known: ReadonlyArray<readonly [string, number, number]> = [
  ["2019-04-01", 14, 345_000],
  ["2019-12-06", 3, 660_000],
  ["2020-05-28", 4, 780_000],
  ["2020-11-13", 2, 1_105_000],
  ["2021-02-26", 12, 1_300_000],
  ["2021-03-19", 16, 1_480_000],
  ["2021-06-17", 4, 1_780_000],
  ["2021-07-29", 8, 1_870_000],
  ["2021-10-28", 9, 2_010_000],
  ["2022-05-23", 2, 2_250_000],
  ["2022-12-22", 3, 2_370_000],
  ["2023-03-16", 2, 2_440_000],
  ["2023-06-29", 3, 2_510_000],
  ["2024-04-18", 4, 2_590_000],
  ["2024-10-31", 4, 2_670_000],
  ["2025-04-24", 5, 2_740_000],
  ["2025-12-18", 6, 2_810_000],
  ["2026-04-30", 6, 2_890_000]
]
const roomAfterLast = 70_000

export interface Wave {
  readonly day: number
  readonly share: number
  readonly firstId: number
}

const listWaves = (released_on: string) => {
  const releases = known.filter(([date]) => date <= released_on)
  const last = releases.at(-1)
  if (!last) throw new Error(`A release of ${released_on} would be older than the first one, ${known[0]?.[0]}`)
  if (last[0] !== released_on) releases.push([released_on, 6, last[2] + roomAfterLast])
  const total = releases.reduce((sum, [, weight]) => sum + weight, 0)
  return releases.map(([date, weight, firstId]): Wave => ({ day: parseDay(date), share: weight / total, firstId }))
}

const findHighestBit = (mask: number) => 31 - Math.clz32(mask)

export class Plan {
  readonly size: ReleaseSize
  /** A bit for each release in which the product has a version: 2 MB for half a million products. Nothing else grows. */
  readonly masks: Uint32Array
  readonly products: number
  private readonly waves: ReadonlyArray<Wave>
  private readonly stride: number

  constructor(size: ReleaseSize) {
    this.size = size
    this.waves = listWaves(size.released_on)
    this.masks = this.drawMasks()
    this.products = this.masks.length
    const gaps = this.waves.map(
      (wave, i) => (this.waves[i + 1]?.firstId ?? wave.firstId + roomAfterLast) - wave.firstId
    )
    this.stride = Math.min(...gaps.map((gap) => Math.floor(gap / Math.max(1, this.products))))
    // If one release has too few ids for all products, the releases get equal blocks.
    if (this.stride === 0) this.waves = this.waves.map((wave, i) => ({ ...wave, firstId: 345_000 + i * this.products }))
  }

  get releases() {
    return this.waves.length
  }

  /** Exactly `foods` bits in total: the last product loses its oldest versions. */
  private drawMasks() {
    const { foods, seed, versions_per_product } = this.size
    const squares = this.waves.reduce((sum, { share }) => sum + share * share, 0)
    const factor = (versions_per_product - 1) / (1 - squares + 1e-9)
    const limits = this.waves.map(({ share }) => Math.min(0.97, share * factor) * 4_294_967_296)
    const masks = new Uint32Array(foods)
    let products = 0
    for (let left = foods; left > 0; products++) {
      let remaining = hashNumbers(seed, 1, products) / 4_294_967_296
      let guaranteed = -1
      do remaining -= this.waves[++guaranteed]?.share ?? 1
      while (remaining >= 0 && guaranteed < this.waves.length - 1)
      let mask = 1 << guaranteed
      if (versions_per_product > 1)
        for (const [wave, limit] of limits.entries())
          if (hashNumbers(seed, 2, products, wave) < limit) mask |= 1 << wave
      let versions = 0
      for (let bits = mask; bits !== 0; bits &= bits - 1) versions++
      for (; versions > left; versions--) mask &= mask - 1
      masks[products] = mask
      left -= versions
    }
    return masks.slice(0, products)
  }

  has(product: number, wave: number) {
    return ((this.masks[product] ?? 0) & (1 << wave)) !== 0
  }

  getFdcId(product: number, wave: number) {
    const first = this.getWave(wave).firstId
    if (this.stride < 2) return first + product
    return first + product * this.stride + (hashNumbers(this.size.seed, 3, product, wave) % this.stride)
  }

  /** Day of publication. */
  getPublished(product: number, wave: number) {
    const quirk = hashNumbers(this.size.seed, 4, product) % 100
    if (quirk < 2) {
      const mask = this.masks[product] ?? 0
      const top = findHighestBit(mask)
      const second = findHighestBit(mask & ~(1 << top))
      if (second >= 0) {
        if (wave === second) return this.getWave(top).day
        if (wave === top && quirk === 0) return this.getWave(second).day
      }
    }
    return this.getWave(wave).day
  }

  getModified(product: number, wave: number) {
    return this.getPublished(product, wave) - 1 - (hashNumbers(this.size.seed, 5, product, wave) % 240)
  }

  /** Until 2023 the day of publication, later the day of modification, as in the real files. */
  getAvailable(product: number, wave: number) {
    const published = this.getPublished(product, wave)
    return published < availableIsModifiedFrom ? published : this.getModified(product, wave)
  }

  /** Latest publication, then availability, modification and id. */
  findCurrent(product: number) {
    const mask = this.masks[product] ?? 0
    const top = findHighestBit(mask)
    const second = findHighestBit(mask & ~(1 << top))
    if (second < 0) return top
    for (const day of [this.getPublished, this.getAvailable, this.getModified]) {
      const difference = day.call(this, product, top) - day.call(this, product, second)
      if (difference !== 0) return difference > 0 ? top : second
    }
    return top
  }

  /** Waves of the older versions, newest publication first. */
  listOlder(product: number) {
    const current = this.findCurrent(product)
    const waves: Array<number> = []
    for (let wave = this.waves.length - 1; wave >= 0; wave--)
      if (wave !== current && this.has(product, wave)) waves.push(wave)
    return waves
  }

  isFirst(product: number, wave: number) {
    return ((this.masks[product] ?? 0) & ((1 << wave) - 1)) === 0
  }

  private getWave(wave: number) {
    const found = this.waves[wave]
    if (!found) throw new Error(`Release ${wave} of ${this.waves.length}`)
    return found
  }
}

const availableIsModifiedFrom = parseDay("2024-01-01")
