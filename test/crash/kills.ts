/** Histories with many kills, and what they come to together. */
import { afterAll } from "vitest"

/** How many kills a history has at most: each history begins with a new ledger, which keeps its checks short. */
export const portion = 20

/** Histories with so many kills together; `first` is the number of kills in those before. */
export const historiesWith = (kills: number) =>
  Array.from({ length: Math.ceil(kills / portion) }, (_, index) => ({
    first: index * portion,
    kills: Math.min(portion, kills - index * portion)
  }))

export type Numbers = Readonly<Record<string, number>>

export const listOf = (numbers: Numbers): string =>
  Object.entries(numbers)
    .map(([what, number]) => `${number} ${what}`)
    .join(", ")

/** Adds up the numbers of all histories of a suite, and prints them at its end. */
export const totalsOf = (name: string) => {
  const totals: Record<string, number> = {}
  const began = performance.now()
  afterAll(() => {
    const minutes = Math.round((performance.now() - began) / 6_000) / 10
    console.log(`${name}, all histories, ${minutes} minutes: ${listOf(totals)}`)
  })
  return (numbers: Numbers) => {
    for (const [what, number] of Object.entries(numbers)) totals[what] = (totals[what] ?? 0) + number
  }
}

/** A slow machine is no failure: four seconds a kill are usual. */
export const longest = 60_000 + portion * 30_000
