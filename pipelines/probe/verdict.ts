/** What a probe says about one feed, and about all of them. */
import { Effect } from "effect"
import type { ArchiveUnwritable, RawFileDamaged } from "../run/archive/fetch-list.ts"
import { type OriginError, UpstreamUnavailable } from "../run/origins/origin.ts"

export interface FeedVerdict {
  readonly pipeline: string
  /** The service with its host, or the stores: a heading for people. */
  readonly group: string
  readonly feed: string
  /** `ok`: a run can read it. `not_asked`: the answer would be that of another feed, or a setting is missing. */
  readonly verdict: "ok" | "differs" | "unreachable" | "not_asked"
  /** What was found, what differs, or why there was no answer and what to do. */
  readonly detail: string
  /** What does not stop a run: new columns, metrics without rows. */
  readonly notes: ReadonlyArray<string>
  /** Rows in the part that was read. */
  readonly rows: number | null
  /** The newest day in the part that was read, or the day of the release. */
  readonly newest_day: string | null
}

export type ProbeFinding = Pick<FeedVerdict, "feed" | "verdict" | "detail"> &
  Partial<Pick<FeedVerdict, "notes" | "rows" | "newest_day">>

export const verdictsOf =
  (pipeline: string, group: string) =>
  ({ detail, feed, newest_day = null, notes = [], rows = null, verdict }: ProbeFinding): FeedVerdict => ({
    pipeline,
    group,
    feed,
    verdict,
    detail: detail.replace(/\.$/, ""),
    notes,
    rows,
    newest_day
  })

/** Up to this share, rejected rows count as odd rows. Above it, the feed differs. */
const mostRejected = 0.1

/** What is wrong with a feed of so many rows, if too many of them were rejected. */
export const tooManyRejects = (
  rejects: ReadonlyArray<{ readonly position: string | number; readonly reason: string }>,
  rows: number,
  what: string
) => {
  const [first] = rejects
  if (first === undefined || rejects.length <= rows * mostRejected) return undefined
  return `${rejects.length} of ${rows} ${what} cannot be read, the first at ${first.position}: ${first.reason}`
}

/** A source that cannot be read is a verdict. A fault of this machine ends the probe. */
export const orFatal = <E extends OriginError>(error: E | ArchiveUnwritable | RawFileDamaged) =>
  error._tag === "ArchiveUnwritable" || error._tag === "RawFileDamaged"
    ? Effect.fail(error)
    : Effect.succeed(error as Exclude<typeof error, ArchiveUnwritable | RawFileDamaged>)

/** Why there was no answer, without the address of a failed connection: feeds with the same problem get one text. */
export const whyAway = (error: OriginError) => {
  if (!(error instanceof UpstreamUnavailable)) return error.message
  const { advice, problem, tries } = error
  return [`${problem}${tries > 1 ? `, ${tries} times` : ""}.`, advice].filter(Boolean).join(" ")
}

/** 0 if all feeds are ok, 1 if nothing answered, otherwise 4. */
export const probeExitCode = (verdicts: ReadonlyArray<FeedVerdict>) => {
  if (verdicts.every(({ verdict }) => verdict === "ok")) return 0
  return verdicts.some(({ verdict }) => verdict === "ok" || verdict === "differs") ? 4 : 1
}

const label = { ok: "ok", differs: "differs", unreachable: "unreachable", not_asked: "not asked" }
const width = Math.max(...Object.values(label).map((text) => text.length))

const lineOf = (verdict: FeedVerdict["verdict"], text: string) => `  ${label[verdict].padEnd(width)}  ${text}`

/** One line per feed. Consecutive feeds with the same problem share a line. */
const linesOf = (verdicts: ReadonlyArray<FeedVerdict>) => {
  const lines: Array<{ readonly said: FeedVerdict; readonly feeds: Array<string> }> = []
  for (const one of verdicts) {
    const last = lines.at(-1)
    const isSame = one.verdict !== "ok" && one.verdict === last?.said.verdict && one.detail === last.said.detail
    if (isSame) last.feeds.push(one.feed)
    else lines.push({ said: one, feeds: [one.feed] })
  }
  return lines.map(({ feeds, said: { detail, notes, verdict } }) => {
    const who = feeds.length === 1 ? feeds[0] : `${feeds.length} feeds, ${feeds[0]} to ${feeds.at(-1)}`
    const beside = notes.length === 0 ? "" : ` (${notes.join("; ")})`
    return lineOf(verdict, `${who}: ${detail}${beside}`.replaceAll("\n", " "))
  })
}

/** One heading per group, followed by the lines of its feeds. */
export const formatReport = (verdicts: ReadonlyArray<FeedVerdict>) =>
  [...Map.groupBy(verdicts, ({ group, pipeline }) => `${pipeline}, ${group}`)]
    .map(([heading, of]) => {
      const fine = of.filter(({ verdict }) => verdict === "ok").length
      return [`${heading}: ${fine} of ${of.length} ok`, ...linesOf(of)].join("\n")
    })
    .join("\n\n")
