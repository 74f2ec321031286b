/** The verdicts of a probe about each feed, its exit code, and its report. */
import { Effect } from "effect"
import type { ArchiveUnwritable, RawFileDamaged } from "../run/archive/fetch-list.ts"
import { isOriginError, type OriginError, UpstreamUnavailable } from "../run/origins/origin.ts"
import { describeShare, findCommonestReason, isLeftOutInPart } from "../run/shares.ts"

export interface FeedVerdict {
  readonly pipeline: string
  /** A heading of the report: the service with its host, or the stores. */
  readonly group: string
  readonly feed: string
  /** `ok`: a run can read it. `not_asked`: the response would be the same as another feed's, or a setting is missing. */
  readonly verdict: "ok" | "differs" | "unreachable" | "not_asked"
  /** What was found, what differs, or why there was no response and what to do. */
  readonly detail: string
  /** What does not stop a run: new columns, metrics without rows. */
  readonly notes: ReadonlyArray<string>
  readonly rows: number | null
  /** Prices that a run would publish from these rows; null if unknown, and for other pipelines. */
  readonly prices: number | null
  /** Rows, labels or products that a run would reject; null if unknown. */
  readonly rejected: number | null
  readonly newest_day: string | null
}

export type ProbeFinding = Pick<FeedVerdict, "feed" | "verdict" | "detail"> &
  Partial<Pick<FeedVerdict, "notes" | "rows" | "prices" | "rejected" | "newest_day">>

export const makeVerdictFactory =
  (pipeline: string, group: string) =>
  ({
    detail,
    feed,
    newest_day = null,
    notes = [],
    prices = null,
    rejected = null,
    rows = null,
    verdict
  }: ProbeFinding): FeedVerdict => ({
    pipeline,
    group,
    feed,
    verdict,
    detail: detail.replace(/\.$/, ""),
    notes,
    rows,
    prices,
    rejected,
    newest_day
  })

/** The sentence of a feed that a run would leave out in part; undefined if it would not. */
export const describeExcessRejects = (
  rejects: ReadonlyArray<{ readonly reason: string }>,
  rows: number,
  noun: string
): string | undefined => {
  const share = { read: rows, rejected: rejects.length }
  if (!isLeftOutInPart(share)) return undefined
  return describeShare(share, noun, findCommonestReason(rejects.map(({ reason }) => reason)))
}

/** Returns an error of the source, so that it becomes a verdict. A fault of this machine fails the probe. */
export const failOnLocalFault = (error: OriginError | ArchiveUnwritable | RawFileDamaged) =>
  isOriginError(error) ? Effect.succeed(error) : Effect.fail(error)

/** Omits the address of a failed connection, so that feeds with the same problem get the same explanation. */
export const explainUnreachable = (error: OriginError) => {
  if (!(error instanceof UpstreamUnavailable)) return error.message
  const { advice, problem, tries } = error
  return [`${problem}${tries > 1 ? `, ${tries} times` : ""}.`, advice].filter(Boolean).join(" ")
}

/** 0 if all feeds are ok, 1 if none responded, otherwise 4. */
export const probeExitCode = (verdicts: ReadonlyArray<FeedVerdict>) => {
  if (verdicts.every(({ verdict }) => verdict === "ok")) return 0
  return verdicts.some(({ verdict }) => verdict === "ok" || verdict === "differs") ? 4 : 1
}

const labels = { ok: "ok", differs: "differs", unreachable: "unreachable", not_asked: "not asked" }

/** Formats one line per feed. Consecutive feeds with the same problem share a line. */
const formatLines = (verdicts: ReadonlyArray<FeedVerdict>) => {
  const groups: Array<{ readonly shared: FeedVerdict; readonly feeds: Array<string> }> = []
  for (const verdict of verdicts) {
    const last = groups.at(-1)
    const hasSameProblem =
      verdict.verdict !== "ok" && verdict.verdict === last?.shared.verdict && verdict.detail === last.shared.detail
    if (hasSameProblem) last.feeds.push(verdict.feed)
    else groups.push({ shared: verdict, feeds: [verdict.feed] })
  }
  return groups.map(({ feeds, shared: { detail, notes, verdict } }) => {
    const names = feeds.length === 1 ? feeds[0] : `${feeds.length} feeds, ${feeds[0]} to ${feeds.at(-1)}`
    const remarks = notes.length === 0 ? "" : ` (${notes.join("; ")})`
    const label = labels[verdict].padEnd("unreachable".length)
    return `  ${label}  ${`${names}: ${detail}${remarks}`.replaceAll("\n", " ")}`
  })
}

export const formatReport = (verdicts: ReadonlyArray<FeedVerdict>) =>
  [...Map.groupBy(verdicts, ({ group, pipeline }) => `${pipeline}, ${group}`)]
    .map(([heading, group]) => {
      const ok = group.filter(({ verdict }) => verdict === "ok").length
      return [`${heading}: ${ok} of ${group.length} ok`, ...formatLines(group)].join("\n")
    })
    .join("\n\n")
