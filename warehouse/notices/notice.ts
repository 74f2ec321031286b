/** The notices for an operator: each is one POST, as data for programs and as `text` for people, which Slack shows. */
import { createHash } from "node:crypto"
import type { FeedLeftOut, RunRecord } from "@larder/schemas"
import { type FreshnessChange, type Notified, subjectOf } from "./changes.ts"

export interface Notice {
  /** The same for each POST of the same notice, so that a receiver can ignore repetitions. */
  readonly id: string
  readonly type:
    | "run.failed"
    | "run.checks_failed"
    | "run.left_out"
    | "warehouse.rolled_back"
    | "freshness.changed"
    | "notify.check"
  readonly data: Readonly<Record<string, unknown>>
  readonly text: string
}

const maxLines = 25
const maxLineLength = 300
/** Subjects in `data`: in a list of thousands of stores, all may become late at the same time. */
const maxItems = 500

/**
 * Texts quote foreign responses: without the escapes that Slack defines, `<!channel>` in one would call everyone. Other
 * control characters could hide or reorder text.
 */
const escapeForSlack = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ")

const shorten = (line: string) =>
  line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line

const formatText = (lines: ReadonlyArray<string>) => {
  const shown = lines.slice(0, maxLines).map((line) => escapeForSlack(shorten(line.trimEnd())))
  return [...shown, ...(lines.length > maxLines ? [`and ${lines.length - maxLines} more`] : [])].join("\n")
}

const hashOf = (facts: unknown) => createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32)

/** The worst first. */
const toWords = (changes: ReadonlyArray<FreshnessChange>) => {
  const isEnd = ({ before, state }: FreshnessChange) => state === "ended" || before === "ended"
  const late = changes.filter(({ state }) => state === "late")
  const ends = changes.filter((change) => change.state !== "late" && isEnd(change))
  const better = changes.filter((change) => change.state !== "late" && !isEnd(change))
  const counts = [
    ...(late.length === 0 ? [] : [`${late.length} late`]),
    ...(better.length === 0 ? [] : [`${better.length} no longer ${late.length === 0 ? "late or unread" : "so"}`]),
    ...(ends.length === 0 ? [] : [`${ends.length} ended or resumed`])
  ]
  return {
    headline: `Larder: ${counts.join(", ")}`,
    lines: [...late, ...better, ...ends].map((change) => `${change.state}: ${subjectOf(change)}. ${change.why}`)
  }
}

/** The id is that of these changes since what was last sent: it differs when a subject becomes late once more. */
export const makeFreshnessNotice = (
  changes: ReadonlyArray<FreshnessChange>,
  notified: ReadonlyArray<Notified>
): Notice => {
  const notifiedAt = new Map(notified.map(({ subject, notified_at }) => [subject, notified_at]))
  const facts = changes.map((change) => {
    const subject = subjectOf(change)
    return [subject, change.before, notifiedAt.get(subject) ?? null, change.state, change.late_at]
  })
  const { headline, lines } = toWords(changes)
  return {
    id: `freshness-${hashOf(facts.toSorted())}`,
    type: "freshness.changed",
    data: { changes: changes.slice(0, maxItems), changes_total: changes.length },
    text: formatText([headline, ...lines])
  }
}

interface EndedRun {
  readonly pipeline: string
  /** Of the run; if none had begun, made up by the caller. */
  readonly id: string
  readonly problem: "failed" | "checks_failed" | "left_out"
  /** What the program prints about it. */
  readonly message: string
  readonly run: RunRecord | null
  readonly left_out: ReadonlyArray<FeedLeftOut>
}

const headlines: Readonly<Record<EndedRun["problem"], string>> = {
  failed: "failed",
  checks_failed: "was stopped by a check",
  left_out: "left something out"
}

export const makeRunNotice = ({ id, left_out, message, pipeline, problem, run }: EndedRun): Notice => ({
  id,
  type: `run.${problem}`,
  data: { pipeline, run, message, left_out: left_out.slice(0, maxItems), left_out_total: left_out.length },
  text: formatText([`Larder: the run of ${pipeline} ${headlines[problem]}`, ...message.split("\n")])
})

interface RolledBack {
  readonly generation: string
  /** By pipeline, the generation that published what is live now; null if it is no longer loaded. */
  readonly data_sets: Readonly<Record<string, string | null>>
  readonly note: string | null
  readonly time: string
}

export const makeRollbackNotice = ({ data_sets, generation, note, time }: RolledBack): Notice => ({
  id: `rollback-${generation}-${hashOf([time, data_sets])}`,
  type: "warehouse.rolled_back",
  data: { generation, data_sets, note },
  text: formatText([
    `Larder: rolled back, ${generation} is live`,
    ...Object.entries(data_sets).map(
      ([name, source]) => `${name} is ${source === null ? "no longer loaded" : `that of ${source}`}`
    ),
    ...(note === null ? [] : [`note: ${note}`])
  ])
})

export const makeCheckNotice = (time: string): Notice => ({
  id: `check-${hashOf(time)}`,
  type: "notify.check",
  data: {},
  text: "Larder: this is a test. Notices arrive here."
})
