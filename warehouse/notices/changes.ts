/**
 * Compares what is true about freshness with what was last sent. Only subjects that were wrong once are stored:
 * without a row, a subject counts as fresh.
 *
 * What was left out is in the notice of each run that leaves it out, so here it is only stored. It is sent when it is read
 * again, or becomes late.
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

const isWrong = (state: string) => state === "late" || state === "not_read"

export const compareFreshness = (judged: ReadonlyArray<Judged>, notified: ReadonlyArray<Notified>): Comparison => {
  const lastStates = new Map(notified.map(({ state, subject }) => [subject, state as Judged["state"]]))
  const changes: Array<FreshnessChange> = []
  const remember = new Map<string, Judged["state"]>()
  for (const row of judged) {
    const name = subjectOf(row)
    const before = lastStates.get(name) ?? null
    lastStates.delete(name)
    if (row.state === before || !(isWrong(row.state) || (before !== null && isWrong(before)))) continue
    remember.set(name, row.state)
    if (row.state !== "not_read") changes.push({ ...row, before })
  }
  return { changes, remember, forget: [...lastStates.keys()] }
}
