/** What a probe says about one feed, and about all of them. */

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

export type Found = Pick<FeedVerdict, "feed" | "verdict" | "detail"> &
  Partial<Pick<FeedVerdict, "notes" | "rows" | "newest_day">>

export const verdictsOf =
  (pipeline: string, group: string) =>
  ({ detail, feed, newest_day = null, notes = [], rows = null, verdict }: Found): FeedVerdict => ({
    pipeline,
    group,
    feed,
    verdict,
    detail: detail.replace(/\.$/, ""),
    notes,
    rows,
    newest_day
  })

/** 0 if all feeds are ok, 1 if nothing answered, otherwise 4. */
export const exitCodeOf = (verdicts: ReadonlyArray<FeedVerdict>) => {
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
export const told = (verdicts: ReadonlyArray<FeedVerdict>) =>
  [...Map.groupBy(verdicts, ({ group, pipeline }) => `${pipeline}, ${group}`)]
    .map(([heading, of]) => {
      const fine = of.filter(({ verdict }) => verdict === "ok").length
      return [`${heading}: ${fine} of ${of.length} ok`, ...linesOf(of)].join("\n")
    })
    .join("\n\n")
