/**
 * What calls that overlap may be answered. Each change of a number happens at some moment between its two, so at any time
 * the number lies between what it is with all losses and no gains under way, and with all gains and no losses. An answer
 * must be true at one moment at least while it was waited for. Judged when nothing is in flight any more: then it is known
 * which calls were admitted, and a refused one takes nothing from the others.
 */
import type { Limit } from "./model.ts"
import type { Refusal } from "./rules.ts"

export interface Span {
  readonly from: number
  readonly to: number
}

interface Change extends Span {
  readonly by: number
  /** So much less than 0 may be left after it: of what it takes away something may be spent already. */
  readonly overdraft: number
}

interface Decided extends Span {
  /** In the order in which they refuse. */
  readonly limits: ReadonlyArray<string>
  readonly credits: number
  readonly outcome: "held" | Refusal
  readonly refusals: ReadonlyArray<Refusal>
}

interface Told extends Span {
  /** The smallest of them was told, or 0. */
  readonly limits: ReadonlyArray<string>
  readonly value: number
  readonly atLeast: number
}

interface Bounds {
  readonly since: number
  readonly low: number
  readonly high: number
}

const never: Bounds = { since: Number.POSITIVE_INFINITY, low: 0, high: 0 }

/** What a number may be from each moment on, until the next one. */
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
    if (high < -overdraft) problems.push(`${name} is overspent: ${high} is left, and ${overdraft} were taken out`)
  }
  return bounds
}

/** The least and the most that it was within a span. */
const within = (bounds: ReadonlyArray<Bounds>, { from, to }: Span) => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const [index, one] of bounds.entries()) {
    if (one.since >= to || (bounds[index + 1] ?? never).since <= from) continue
    low = Math.min(low, one.low)
    high = Math.max(high, one.high)
  }
  return { low, high }
}

export class Overlaps {
  private time = 0
  private readonly starts = new Map<string, number>()
  private readonly changes = new Map<string, Array<Change>>()
  private decided: Array<Decided> = []
  private told: Array<Told> = []

  /** Every moment is another one. */
  readonly moment = (): number => ++this.time

  /** Before the model takes up the first change of a number. */
  private watch(limits: Iterable<{ readonly name: string; readonly left: number }>): void {
    for (const { left, name } of limits) if (!this.starts.has(name)) this.starts.set(name, left)
  }

  /** Before the model takes it up. */
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

  decide(limits: ReadonlyArray<Limit>, credits: number, outcome: Decided["outcome"], { from, to }: Span): void {
    this.watch(limits)
    const refusals = limits.map(({ refusal }) => refusal)
    this.decided.push({ limits: limits.map(({ name }) => name), refusals, credits, outcome, from, to })
  }

  /** `atLeast` is told where less is left. */
  tell(
    limits: ReadonlyArray<{ readonly name: string; readonly left: number }>,
    value: number,
    { from, to }: Span,
    atLeast = 0
  ): void {
    this.watch(limits)
    this.told.push({ limits: limits.map(({ name }) => name), value, atLeast, from, to })
  }

  /** What cannot have been, in whatever order. Nothing may be in flight. */
  judge(): ReadonlyArray<string> {
    const problems: Array<string> = []
    const bounds = new Map(
      [...this.starts].map(([name, start]) => [name, boundsOf(name, start, this.changes.get(name) ?? [], problems)])
    )
    const roomIn = (name: string, span: Span) => within(bounds.get(name) ?? [], span)
    for (const one of this.decided) {
      const rooms = one.limits.map((name) => roomIn(name, one))
      const refusedBy = one.outcome === "held" ? rooms.length : one.refusals.indexOf(one.outcome)
      const hadRoom = rooms.slice(0, refusedBy).every(({ high }) => high >= one.credits)
      const hadNone = one.outcome === "held" || (rooms[refusedBy]?.low ?? Number.POSITIVE_INFINITY) < one.credits
      if (!hadRoom || !hadNone) problems.push(`${JSON.stringify(one)} with ${JSON.stringify(rooms)}`)
    }
    for (const one of this.told) {
      const rooms = one.limits.map((name) => roomIn(name, one))
      const low = Math.max(one.atLeast, Math.min(...rooms.map((room) => room.low)))
      const high = Math.max(one.atLeast, Math.min(...rooms.map((room) => room.high)))
      if (one.value < low || one.value > high) problems.push(`told ${JSON.stringify(one)}: ${JSON.stringify(rooms)}`)
    }
    this.starts.clear()
    this.changes.clear()
    this.decided = []
    this.told = []
    return problems
  }
}
