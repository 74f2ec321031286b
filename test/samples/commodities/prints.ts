/** What each of the five reports that carry a survey week printed for it: known revisions, else invented ones. */

import type { Day } from "./calendar.ts"
import { type Print, revisions } from "./facts.ts"
import { at } from "./lookup.ts"
import type { Chance } from "./random.ts"

/** `prints[age]` is what the report `age` weeks after the week printed; age 4 is final. */
export interface SurveyWeek<P extends Print = Print> {
  readonly week: Day
  readonly prints: ReadonlyArray<P | null>
}

const ages = [0, 1, 2, 3, 4]

/** What the given report printed for a week; a report beyond the fifth keeps the final print. */
export const printAsOf = <P extends Print>(week: SurveyWeek<P>, report: Day) =>
  week.prints[Math.min(4, (report - week.week) / 7)] ?? null

export const finalOf = <P extends Print>(week: SurveyWeek<P>) => week.prints[4] ?? null

export const unrevised = <P extends Print>(print: P | null): ReadonlyArray<P | null> => ages.map(() => print)

/** Chance that the report of age 4, 3, 2, 1 changes what the one before it had printed. */
const changes = [0.04, 0.1, 0.22, 0.62]

/** At most 0.0135 USD/lb in the weeks that were watched, mostly far less; volumes also move alone. */
const perturbed = (random: Chance, print: Print): Print => {
  const most = random.happens(0.15) ? 135 : 24
  return {
    price: random.happens(0.85) ? print.price + random.whole(-most, most) : print.price,
    pounds: Math.round(print.pounds * (1 + random.whole(-350, 150) / 10_000))
  }
}

/** Earlier prints of a final one, invented from the newest back. */
export const inventedPrints = (random: Chance, final: Print): ReadonlyArray<Print> => {
  const newestFirst = [final]
  for (const probability of changes) {
    const later = at(newestFirst, newestFirst.length - 1)
    newestFirst.push(random.happens(probability) ? perturbed(random, later) : later)
  }
  return newestFirst.toReversed()
}

const known = revisions()

/** Published revisions, each carried on until the next; null when none is known for the week. */
export const knownPrints = (product: string, week: Day): ReadonlyArray<Print> | null => {
  const ofWeek = known.filter((revision) => revision.product === product && revision.week === week)
  if (ofWeek.length === 0) return null
  return ages.map((age) => {
    const printed = ofWeek.filter((revision) => revision.report <= week + 7 * age)
    const { price, pounds } = at(printed, printed.length - 1)
    return { price, pounds }
  })
}
