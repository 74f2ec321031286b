/**
 * Seeded random numbers for generators: one stream per (seed, purpose, product, version), so that a label is the same
 * by itself and among two million. Only integers and basic arithmetic: the numbers are the same on every machine.
 */
const mixBits = (h: number) => {
  let x = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/** Hashes up to four numbers to 32 bits. */
export const hashNumbers = (a: number, b: number, c: number, d = 0) =>
  mixBits(mixBits(mixBits(mixBits(a + 0x9e3779b9) ^ b) + Math.imul(c, 0x85ebca6b)) ^ Math.imul(d, 0xc2b2ae35))

export class Chance {
  private state = 0
  private readonly oddities: number

  /** `oddities` multiplies the frequency of the rarest oddities of the source, which a small sample would not have. */
  constructor(oddities = 1) {
    this.oddities = oddities
  }

  /** Begins another stream. All labels share one object, because millions of small objects would be slow. */
  start(seed: number, purpose: number, product: number, version = 0) {
    this.state = hashNumbers(seed, purpose, product, version)
    return this
  }

  /** 32 bits (mulberry32). */
  bits() {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }

  /** In [0, 1). */
  unit() {
    return this.bits() / 4_294_967_296
  }

  happens(probability: number) {
    return this.bits() < probability * 4_294_967_296
  }

  /** Whether an oddity occurs that has this share in the source. */
  oddityHappens(share: number) {
    return this.happens(Math.min(0.5, share * this.oddities))
  }

  /** From 0 to `limit` - 1. */
  below(limit: number) {
    return Math.floor(this.unit() * limit)
  }

  /**
   * From 0 to `limit` - 1 with a long tail: the product of three uniform numbers. Half of the draws fall into the first tenth, and
   * the last ranks are almost never drawn.
   */
  zipf(limit: number) {
    return Math.floor(this.unit() * this.unit() * this.unit() * limit)
  }

  pick<T>(list: readonly [T, ...Array<T>]): T {
    return list[this.below(list.length)] ?? list[0]
  }
}

const slots = 4_096

/** A list from which entries are drawn by weight. With 4,096 slots a draw is one look-up, and shares are exact to 0.02 %. */
export class Weighted<T> {
  private readonly table: Array<T> = []

  constructor(entries: ReadonlyArray<readonly [T, number]>) {
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of entries) {
      const count = Math.max(1, Math.round((weight / total) * slots))
      for (let i = 0; i < count; i++) this.table.push(value)
    }
  }

  draw(chance: Chance): T {
    const value = this.table[chance.below(this.table.length)]
    if (value === undefined) throw new Error("A weighted list without entries")
    return value
  }
}

/** Value at `u` in [0, 1) of a distribution with these quantiles, `[share, value]` ascending, by linear interpolation. */
export const quantile = (points: ReadonlyArray<readonly [number, number]>, u: number) => {
  let [fromShare, fromValue] = points[0] ?? [0, 0]
  for (const [share, value] of points) {
    if (u < share) return fromValue + ((value - fromValue) * (u - fromShare)) / (share - fromShare)
    fromShare = share
    fromValue = value
  }
  return fromValue
}
