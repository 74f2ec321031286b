/**
 * Measures several subjects in turns, because the speed of a machine varies from minute to minute: each round measures all
 * of them, in another order, and ratios compare measurements of the same round.
 */
import { median, roundTo } from "./statistics.ts"

/** Numbers by the heading of their column. */
export type Numbers<Columns> = { readonly [Column in keyof Columns]: number }

/** Every second round goes backwards, and the next one starts with the next subject: none always follows the same other. */
const orderRound = <Name>(names: ReadonlyArray<Name>, round: number): ReadonlyArray<Name> => {
  const first = Math.floor(round / 2) % names.length
  const rotated = [...names.slice(first), ...names.slice(0, first)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

const listKeys = <A extends object>(record: A) => Object.keys(record) as unknown as ReadonlyArray<keyof A & string>

export const takeTurns = async <Results extends object>(
  rounds: number,
  subjects: { readonly [Name in keyof Results]: (round: number) => Promise<Results[Name]> }
): Promise<{ readonly [Name in keyof Results]: ReadonlyArray<Results[Name]> }> => {
  const names = listKeys<Results>(subjects as unknown as Results) // of the same names
  type Measured = { [Name in keyof Results]: Array<Results[Name]> }
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Measured
  for (let round = 0; round < rounds; round++) {
    for (const name of orderRound(names, round)) measured[name].push(await subjects[name](round))
  }
  return measured
}

const format = (number: number, digits: number) => roundTo(number, digits).toLocaleString("en-US")

/** The median, and the range if the numbers differ. */
export const describeRange = (numbers: ReadonlyArray<number>, digits = 2) => {
  const [middle, least, most] = [median(numbers), Math.min(...numbers), Math.max(...numbers)].map((number) =>
    format(number, digits)
  )
  return least === most ? middle : `${middle} (${least} to ${most})`
}

/** Empty for numbers that were not measured, and ratios of zeros. */
const describeNumbers = (numbers: ReadonlyArray<number>) =>
  numbers.some(Number.isNaN) ? undefined : describeRange(numbers)

const mapColumns = <A extends object & Numbers<A>>(
  rounds: ReadonlyArray<A>,
  describe: (column: keyof A) => string | undefined
): Readonly<Record<string, string | undefined>> => {
  const [first] = rounds
  return first === undefined ? {} : Object.fromEntries(listKeys(first).map((column) => [column, describe(column)]))
}

/** One cell for each number that the rounds measured. */
export const describeRounds = <A extends object & Numbers<A>>(rounds: ReadonlyArray<A>) =>
  mapColumns(rounds, (column) => describeNumbers(rounds.map((round) => round[column])))

export const findRatios = <A extends object & Numbers<A>>(
  rounds: ReadonlyArray<A>,
  bases: ReadonlyArray<A>,
  column: keyof A
) => rounds.map((round, index) => round[column] / (bases[index]?.[column] ?? Number.NaN))

/** Like `describeRounds`, of the ratios to the rounds of another subject. */
export const describeRatios = <A extends object & Numbers<A>>(rounds: ReadonlyArray<A>, bases: ReadonlyArray<A>) =>
  mapColumns(rounds, (column) => describeNumbers(findRatios(rounds, bases, column)))
