/**
 * Compares what is true about freshness with what was last sent: a stored state per subject. At first, only what is late
 * is sent.
 *
 * What was left out is in the notice of each run that leaves it out, so here it is only stored. It is sent when it is read
 * again, or becomes late. Live data in place of samples, or a data set that is loaded for the first time, is no news to
 * an operator.
 */
import type { Judged } from "./freshness.ts"

/** The state of a subject that was last sent, or only stored. */
export interface Notified {
  readonly subject: string
  readonly state: string
  /** When, in UTC. */
  readonly notified_at: string
}

export interface FreshnessChange extends Judged {
  /** The state before; null if none was stored. */
  readonly before: Judged["state"] | null
}

interface Comparison {
  /** What is to be sent. */
  readonly changes: ReadonlyArray<FreshnessChange>
  /** What is to be stored once that is sent: a state by its subject. */
  readonly remember: ReadonlyMap<string, Judged["state"]>
  /** Subjects that are judged no more, such as a store that is no longer in the list. */
  readonly forget: ReadonlyArray<string>
}

/** Unique: the names of pipelines and kinds have no spaces. */
export const subjectOf = ({ kind, pipeline, subject }: Pick<Judged, "kind" | "pipeline" | "subject">): string =>
  `${pipeline} ${kind.replace("_", "-")} ${subject}`

const isInOrder = (state: Judged["state"]) => state === "fresh" || state === "sample" || state === "not_loaded"

const isNews = (before: Judged["state"] | null, state: Judged["state"]) => {
  if (state === "late") return true
  return before !== null && state !== "not_read" && !(isInOrder(before) && isInOrder(state))
}

export const compareFreshness = (judged: ReadonlyArray<Judged>, notified: ReadonlyArray<Notified>): Comparison => {
  const lastStates = new Map(notified.map(({ state, subject }) => [subject, state as Judged["state"]]))
  const changes: Array<FreshnessChange> = []
  const remember = new Map<string, Judged["state"]>()
  for (const row of judged) {
    const name = subjectOf(row)
    const before = lastStates.get(name) ?? null
    lastStates.delete(name)
    if (row.state === before) continue
    remember.set(name, row.state)
    if (isNews(before, row.state)) changes.push({ ...row, before })
  }
  return { changes, remember, forget: [...lastStates.keys()] }
}
