/**
 * Tests that kill real processes: histories with many kills, which begin anew after some of them. Each prints what happened
 * with its seed, and at the end the totals are printed.
 */
import { afterAll, beforeAll, describe, it } from "vitest"
import { newSeed } from "./chance.ts"

export type Numbers = Readonly<Record<string, number>>
/** Adds to a number that is printed. */
export type Count = (name: string, by?: number) => void

/** The kills of one history; `first` is the number of kills in earlier histories. */
export interface Kills {
  readonly first: number
  readonly kills: number
}

/** What is killed. */
export interface Killed {
  readonly name: string
  /** What is true at the end of each history. */
  readonly outcome: string
  /** A new history begins with nothing stored, which keeps its checks short. */
  readonly killsPerHistory: number
  /** Runs before the first history, and after the last one. */
  readonly begin?: () => Promise<unknown>
  readonly end?: () => Promise<unknown>
  readonly runHistory: (kills: Kills) => Promise<Numbers>
}

const format = (numbers: Numbers): string =>
  Object.entries(numbers)
    .map(([name, number]) => `${number} ${name}`)
    .join(", ")

const collect = () => {
  const numbers: Record<string, number> = {}
  const count: Count = (name, by = 1) => {
    numbers[name] = (numbers[name] ?? 0) + by
  }
  return { numbers, count }
}

/** Runs a history with its seed. Prints and returns what it has counted, also if it fails. */
export const runSeeded = async (
  name: string,
  run: (seed: number, count: Count) => Promise<unknown>
): Promise<Numbers> => {
  const seed = newSeed()
  const { count, numbers } = collect()
  try {
    await run(seed, count)
    return numbers
  } finally {
    console.log(`${name}, LARDER_CRASH_SEED=${seed}: ${format(numbers)}`)
  }
}

const split = (kills: number, perHistory: number): ReadonlyArray<Kills> =>
  Array.from({ length: Math.ceil(kills / perHistory) }, (_, index) => ({
    first: index * perHistory,
    kills: Math.min(perHistory, kills - index * perHistory)
  }))

/** Milliseconds. A slow machine is not a failure: four seconds per kill are usual. */
const timeout = (kills: number) => 90_000 + kills * 30_000

export const killing = (subject: Killed, { kills: totalKills }: { readonly kills: number }): void => {
  describe(subject.name, () => {
    const totals = collect()
    const startedAt = performance.now()
    beforeAll(async () => void (await subject.begin?.()))
    afterAll(async () => {
      const minutes = Math.round((performance.now() - startedAt) / 6_000) / 10
      console.log(`${subject.name}, all histories, ${minutes} minutes: ${format(totals.numbers)}`)
      await subject.end?.()
    })

    it.each(split(totalKills, subject.killsPerHistory))(
      `${subject.outcome}, after $kills kills`,
      async (kills) => {
        const numbers = await subject.runHistory(kills)
        for (const [name, number] of Object.entries(numbers)) totals.count(name, number)
      },
      timeout(Math.min(totalKills, subject.killsPerHistory))
    )
  })
}
