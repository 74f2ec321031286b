/**
 * Seeded random numbers, with one stream per label, so that a new series does not change the numbers of others. Only
 * integer and basic floating-point arithmetic: the numbers are the same on every machine.
 */

const seed = 20_260_930

export interface RandomStream {
  /** In [0, 1). */
  unit(): number
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number
  /** Approximately normal, with mean 0, deviation 1 and limits of ±3.5. */
  bell(): number
  happens(probability: number): boolean
  shuffle<T>(list: ReadonlyArray<T>): Array<T>
}

const hashLabel = (label: string) => {
  let hash = 0x811c9dc5 ^ seed // FNV-1a
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

export const makeRandomStream = (label: string): RandomStream => {
  let state = hashLabel(label)
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0 // mulberry32
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (low: number, high: number) => low + Math.floor(unit() * (high - low + 1))
  return {
    unit,
    whole,
    bell: () => (unit() + unit() + unit() + unit() - 2) * 1.7320508,
    happens: (probability) => unit() < probability,
    shuffle: (list) => {
      const remaining = [...list]
      return list.flatMap(() => remaining.splice(whole(0, remaining.length - 1), 1))
    }
  }
}
