/**
 * Checks whether the outcomes of overlapping calls are possible. Each change of a number takes effect at some moment within
 * a span. So the number always lies between its value with all pending losses and no pending gains, and its value with all
 * gains and no losses. An outcome must be right at some moment of its span. This is checked when nothing is in flight: then
 * it is known which calls were admitted, and refused calls have changed nothing.
 */
import type { Limit } from "./model.ts"
import type { Refusal } from "./rules.ts"

export interface Span {
  readonly from: number
  readonly to: number
}

interface Change extends Span {
  readonly by: number
  /** How far below 0 the number may fall: part of what is removed may be spent already. */
  readonly overdraft: number
}

interface Decision extends Span {
  /** In the order in which they refuse. */
  readonly limits: ReadonlyArray<string>
  readonly credits: number
  readonly outcome: "held" | Refusal
  readonly refusals: ReadonlyArray<Refusal>
}

interface Read extends Span {
  /** The value is the smallest of these, or `atLeast`. */
  readonly limits: ReadonlyArray<string>
  readonly value: number
  readonly atLeast: number
}

interface Bounds {
  readonly since: number
  readonly low: number
  readonly high: number
}

const noBounds: Bounds = { since: Number.POSITIVE_INFINITY, low: 0, high: 0 }

/** The bounds of a number from each moment until the next one. */
const boundsOf = (name: string, start: number, changes: ReadonlyArray<Change>, problems: Array<string>) => {
  const moments = changes.flatMap(({ by, from, overdraft, to }) => [
    { since: from, low: Math.min(0, by), high: Math.max(0, by), overdraft },
    { since: to, low: Math.max(0, by), high: Math.min(0, by), overdraft: 0 }
  ])
  let { high, low } = { high: start, low: start }
  let overdraft = Math.max(0, -start)
  const bounds: Array<Bounds> = [{ since: Number.NEGATIVE_INFINITY, low, high }]
  for (const moment of moments.sort((a, b) => a.since - b.since)) {
    low += moment.low
    high += moment.high
    overdraft += moment.overdraft
    bounds.push({ since: moment.since, low, high })
    if (high < -overdraft) problems.push(`${name} is overspent: ${high} is left, and ${overdraft} were removed`)
  }
  return bounds
}

/** The minimum and maximum within a span. */
const within = (bounds: ReadonlyArray<Bounds>, { from, to }: Span) => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const [index, bound] of bounds.entries()) {
    if (bound.since >= to || (bounds[index + 1] ?? noBounds).since <= from) continue
    low = Math.min(low, bound.low)
    high = Math.max(high, bound.high)
  }
  return { low, high }
}

export class Overlaps {
  private time = 0
  private readonly starts = new Map<string, number>()
  private readonly changes = new Map<string, Array<Change>>()
  private decisions: Array<Decision> = []
  private reads: Array<Read> = []

  /** Each call returns a new moment. */
  readonly moment = (): number => ++this.time

  /** Called before the model applies the first change of a number. */
  private watch(limits: Iterable<{ readonly name: string; readonly left: number }>): void {
    for (const { left, name } of limits) if (!this.starts.has(name)) this.starts.set(name, left)
  }

  /** Called before the model applies the change. */
  change(
    limits: ReadonlyArray<{ readonly name: string; readonly left: number }>,
    by: number,
    { from, to }: Span,
    overdraft = 0
  ): void {
    this.watch(limits)
    for (const { name } of limits) {
      const others = this.changes.get(name)
      const change = { by, from, to, overdraft }
      if (others === undefined) this.changes.set(name, [change])
      else others.push(change)
    }
  }

  decide(limits: ReadonlyArray<Limit>, credits: number, outcome: Decision["outcome"], { from, to }: Span): void {
    this.watch(limits)
    const refusals = limits.map(({ refusal }) => refusal)
    this.decisions.push({ limits: limits.map(({ name }) => name), refusals, credits, outcome, from, to })
  }

  /** Adds a value that was read. It is `atLeast` if less is left. */
  addRead(
    limits: ReadonlyArray<{ readonly name: string; readonly left: number }>,
    value: number,
    { from, to }: Span,
    atLeast = 0
  ): void {
    this.watch(limits)
    this.reads.push({ limits: limits.map(({ name }) => name), value, atLeast, from, to })
  }

  /** Outcomes that are impossible in every order. Nothing may be in flight. */
  findProblems(): ReadonlyArray<string> {
    const problems: Array<string> = []
    const bounds = new Map(
      [...this.starts].map(([name, start]) => [name, boundsOf(name, start, this.changes.get(name) ?? [], problems)])
    )
    const findRests = (outcome: Decision | Read) =>
      outcome.limits.map((name) => within(bounds.get(name) ?? [], outcome))
    for (const decision of this.decisions) {
      const { credits, outcome, refusals } = decision
      const rests = findRests(decision)
      const refusalIndex = outcome === "held" ? rests.length : refusals.indexOf(outcome)
      const couldFit = rests.slice(0, refusalIndex).every(({ high }) => high >= credits)
      const couldBeRefused = outcome === "held" || (rests[refusalIndex]?.low ?? Number.POSITIVE_INFINITY) < credits
      if (!couldFit || !couldBeRefused) problems.push(`${JSON.stringify(decision)} with ${JSON.stringify(rests)}`)
    }
    for (const read of this.reads) {
      const rests = findRests(read)
      const low = Math.max(read.atLeast, Math.min(...rests.map((rest) => rest.low)))
      const high = Math.max(read.atLeast, Math.min(...rests.map((rest) => rest.high)))
      if (read.value < low || read.value > high) problems.push(`read ${JSON.stringify(read)}: ${JSON.stringify(rests)}`)
    }
    this.starts.clear()
    this.changes.clear()
    this.decisions = []
    this.reads = []
    return problems
  }
}
