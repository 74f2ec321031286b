/** A Markdown table of how costs grow. */

/** The cost of each step. */
export type Costs = Readonly<Record<string, number>>

const formatCost = (cost: number) => cost.toLocaleString("en-US", { maximumSignificantDigits: 3 })
const formatRow = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

/**
 * One row for each step: its cost at each size, and the exponent of its growth to each size from the one before. 1 is
 * linear: ten times the size costs ten times as much.
 */
export const formatGrowth = (what: string, sizes: ReadonlyArray<number>, costs: ReadonlyArray<Costs>): string => {
  const growthOf = (numbers: ReadonlyArray<number>) =>
    numbers.slice(1).map((number, i) => Math.log(number / (numbers[i] ?? Number.NaN)))
  const growthOfSizes = growthOf(sizes)
  const formatStep = (step: string) => {
    const numbers = costs.map((cost) => cost[step] ?? Number.NaN)
    const exponents = growthOf(numbers).map((growth, i) => (growth / (growthOfSizes[i] ?? Number.NaN)).toFixed(2))
    return formatRow([step, ...numbers.map(formatCost), ...exponents])
  }
  const headings = [what, ...sizes.map((size) => size.toLocaleString("en-US")), ...growthOfSizes.map(() => "Exponent")]
  return [
    formatRow(headings),
    formatRow(headings.map(() => "---")),
    ...Object.keys(costs[0] ?? {}).map(formatStep)
  ].join("\n")
}
