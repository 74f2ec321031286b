/** Histories with many kills, and their totals. */
import { afterAll } from "vitest"

/** Each history begins with a new ledger, which keeps its checks short. */
export const maxKills = 20

/** Histories with this many kills in total; `first` is the number of kills in earlier histories. */
export const historiesWith = (kills: number) =>
  Array.from({ length: Math.ceil(kills / maxKills) }, (_, index) => ({
    first: index * maxKills,
    kills: Math.min(maxKills, kills - index * maxKills)
  }))

export type Numbers = Readonly<Record<string, number>>

export const formatCounts = (numbers: Numbers): string =>
  Object.entries(numbers)
    .map(([name, number]) => `${number} ${name}`)
    .join(", ")

/** Adds up the numbers of all histories of a suite, and prints them at its end. */
export const collectTotals = (name: string) => {
  const totals: Record<string, number> = {}
  const startedAt = performance.now()
  afterAll(() => {
    const minutes = Math.round((performance.now() - startedAt) / 6_000) / 10
    console.log(`${name}, all histories, ${minutes} minutes: ${formatCounts(totals)}`)
  })
  return (numbers: Numbers) => {
    for (const [key, number] of Object.entries(numbers)) totals[key] = (totals[key] ?? 0) + number
  }
}

/** Milliseconds. A slow machine is not a failure: four seconds per kill are usual. */
export const historyTimeout = 60_000 + maxKills * 30_000
