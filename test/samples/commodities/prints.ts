/** Values that five successive reports print for a survey week: known revisions, otherwise invented ones. */

import type { Day } from "./calendar.ts"
import { type Print, readRevisions } from "./facts.ts"
import { getElement } from "./lookup.ts"
import type { RandomStream } from "./random.ts"

/** `prints[age]` is the value in the report `age` weeks later; age 4 is final. */
export interface SurveyWeek<P extends Print = Print> {
  readonly week: Day
  readonly prints: ReadonlyArray<P | null>
}

const ages = [0, 1, 2, 3, 4]

/** The value of a week in a report. Reports after the fifth keep the final value. */
export const findPrint = <P extends Print>(week: SurveyWeek<P>, report: Day) =>
  week.prints[Math.min(4, (report - week.week) / 7)] ?? null

export const getFinalPrint = <P extends Print>(week: SurveyWeek<P>) => week.prints[4] ?? null

export const repeatPrint = <P extends Print>(print: P | null): ReadonlyArray<P | null> => ages.map(() => print)

/** Probabilities that the report of age 4, 3, 2, 1 changes the previous value. */
const changeProbabilities = [0.04, 0.1, 0.22, 0.62]

/** At most 0.0135 USD/lb, as in the observed weeks, mostly much less. Volumes may change without the price. */
const perturb = (random: RandomStream, print: Print): Print => {
  const maxChange = random.happens(0.15) ? 135 : 24
  return {
    price: random.happens(0.85) ? print.price + random.whole(-maxChange, maxChange) : print.price,
    pounds: Math.round(print.pounds * (1 + random.whole(-350, 150) / 10_000))
  }
}

/** Invents earlier values for a final one, from the newest back. */
export const inventPrints = (random: RandomStream, final: Print): ReadonlyArray<Print> => {
  const newestFirst = [final]
  for (const probability of changeProbabilities) {
    const laterPrint = getElement(newestFirst, newestFirst.length - 1)
    newestFirst.push(random.happens(probability) ? perturb(random, laterPrint) : laterPrint)
  }
  return newestFirst.toReversed()
}

const known = readRevisions()

/** Published revisions, each valid until the next; null if none is known for the week. */
export const findKnownPrints = (product: string, week: Day): ReadonlyArray<Print> | null => {
  const revisionsOfWeek = known.filter((revision) => revision.product === product && revision.week === week)
  if (revisionsOfWeek.length === 0) return null
  return ages.map((age) => {
    const printed = revisionsOfWeek.filter((revision) => revision.report <= week + 7 * age)
    const { price, pounds } = getElement(printed, printed.length - 1)
    return { price, pounds }
  })
}
