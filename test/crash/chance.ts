/** Reproducible random numbers: `LARDER_CRASH_SEED` replaces a new seed. The moments at which signals arrive still vary. */
import { randomInt } from "node:crypto"

export const newSeed = (): number => Number(process.env.LARDER_CRASH_SEED ?? randomInt(2 ** 31))

export interface Chance {
  /** An integer; both ends are inclusive. */
  readonly between: (low: number, high: number) => number
  readonly oneOf: <A>(list: readonly [A, ...ReadonlyArray<A>]) => A
}

export const chanceFrom = (seed: number): Chance => {
  let state = seed
  /** Mulberry32: from 0 to below 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return { between, oneOf: (list) => list[between(0, list.length - 1)] ?? list[0] }
}
