/**
 * Checks whether the outcomes of overlapping calls are possible. Each change of a number takes effect at some moment within
 * a span. So the number always lies between its value with all pending losses and no pending gains, and its value with all
 * gains and no losses. An outcome must be right at some moment of its span. This is checked when nothing is in flight: then
 * it is known which calls were admitted, and refused calls have changed nothing.
 */
/** A number that calls use up, or that operators read. */
export interface Limit {
  readonly name: string
  /** Its value before everything that overlaps. */
  readonly left: () => number
  /** Whether it must not fall below 0, except for what was removed from it. */
  readonly isNeverOverspent: boolean
}

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
  readonly what: string
  readonly credits: number
  /** The credits fit into each of these. */
  readonly fits: ReadonlyArray<string>
  /** They did not fit into this one. */
  readonly refusedBy: string | undefined
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

interface Start {
  readonly name: string
  readonly left: number
  readonly isNeverOverspent: boolean
}

const noBounds: Bounds = { since: Number.POSITIVE_INFINITY, low: 0, high: 0 }

/** The bounds of a number from each moment until the next one. */
const boundsOf = (start: Start, changes: ReadonlyArray<Change>, problems: Array<string>) => {
  const moments = changes.flatMap(({ by, from, overdraft, to }) => [
    { since: from, low: Math.min(0, by), high: Math.max(0, by), overdraft },
    { since: to, low: Math.max(0, by), high: Math.min(0, by), overdraft: 0 }
  ])
  let { high, low } = { high: start.left, low: start.left }
  let overdraft = Math.max(0, -start.left)
  const bounds: Array<Bounds> = [{ since: Number.NEGATIVE_INFINITY, low, high }]
  for (const moment of moments.sort((a, b) => a.since - b.since)) {
    low += moment.low
    high += moment.high
    overdraft += moment.overdraft
    bounds.push({ since: moment.since, low, high })
    if (start.isNeverOverspent && high < -overdraft) {
      problems.push(`${start.name} is overspent: ${high} is left, and ${overdraft} were removed`)
    }
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
  private readonly starts = new Map<string, Start>()
  private readonly changes = new Map<string, Array<Change>>()
  private readonly decisions: Array<Decision> = []
  private readonly reads: Array<Read> = []

  /** Each call returns a new moment. */
  readonly moment = (): number => ++this.time

  private watch(limits: ReadonlyArray<Limit>): ReadonlyArray<string> {
    return limits.map(({ isNeverOverspent, left, name }) => {
      if (!this.starts.has(name)) this.starts.set(name, { name, left: left(), isNeverOverspent })
      return name
    })
  }

  change(limits: ReadonlyArray<Limit>, by: number, { from, to }: Span, overdraft = 0): void {
    for (const name of this.watch(limits)) {
      const others = this.changes.get(name)
      const change = { by, from, to, overdraft }
      if (others === undefined) this.changes.set(name, [change])
      else others.push(change)
    }
  }

  decide(
    what: string,
    credits: number,
    { fits, refusedBy }: { readonly fits: ReadonlyArray<Limit>; readonly refusedBy?: Limit | undefined },
    { from, to }: Span
  ): void {
    const [refusing] = refusedBy === undefined ? [] : this.watch([refusedBy])
    this.decisions.push({ what, credits, fits: this.watch(fits), refusedBy: refusing, from, to })
  }

  /** Adds a value that was read. It is `atLeast` if less is left. */
  addRead(limits: ReadonlyArray<Limit>, value: number, { from, to }: Span, atLeast = Number.NEGATIVE_INFINITY): void {
    this.reads.push({ limits: this.watch(limits), value, atLeast, from, to })
  }

  /** Outcomes that are impossible in every order. Nothing may be in flight. */
  findProblems(): ReadonlyArray<string> {
    const problems: Array<string> = []
    const bounds = new Map(
      [...this.starts].map(([name, start]) => [name, boundsOf(start, this.changes.get(name) ?? [], problems)])
    )
    const findRest = (name: string, span: Span) => within(bounds.get(name) ?? [], span)
    for (const decision of this.decisions) {
      const { credits, fits, refusedBy } = decision
      const couldFit = fits.every((name) => findRest(name, decision).high >= credits)
      const couldBeRefused = refusedBy === undefined || findRest(refusedBy, decision).low < credits
      if (couldFit && couldBeRefused) continue
      const rests = [...fits, ...(refusedBy === undefined ? [] : [refusedBy])].map((name) => findRest(name, decision))
      problems.push(`${JSON.stringify(decision)} with ${JSON.stringify(rests)}`)
    }
    for (const read of this.reads) {
      const rests = read.limits.map((name) => findRest(name, read))
      const low = Math.max(read.atLeast, Math.min(...rests.map((rest) => rest.low)))
      const high = Math.max(read.atLeast, Math.min(...rests.map((rest) => rest.high)))
      if (read.value < low || read.value > high) problems.push(`read ${JSON.stringify(read)}: ${JSON.stringify(rests)}`)
    }
    return problems
  }
}
