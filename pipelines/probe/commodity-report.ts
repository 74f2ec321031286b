/** What a first run would do with a report: how many prices it would publish, what it would reject or leave out, and why. */
import type { Feed } from "../commodities/catalog.ts"
import { decodeText, parseRows } from "../commodities/decode/payload.ts"
import { newestOf } from "../commodities/normalise/dates.ts"
import { normalise } from "../commodities/normalise/normalise.ts"
import { describeText } from "../commodities/normalise/unmatched.ts"
import { explainPart } from "../commodities/parts.ts"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import type { DayRange } from "../run/pipeline.ts"
import { findCommonestReason } from "../run/shares.ts"
import type { ProbeFinding } from "./verdict.ts"

export interface ProbedWindow {
  readonly raw: FetchedPayload
  readonly bytes: Uint8Array
  /** Undefined for the whole history. */
  readonly window: DayRange | undefined
  /** From a recording, not from the service itself. */
  readonly isRecorded: boolean
}

const formatNames = (names: ReadonlyArray<string>) =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ")

/** A smaller difference does not matter, because date windows are in whole days. */
const clockToleranceMinutes = 5

const describeClock = ({ fetched_at, extra_values }: FetchedPayload) => {
  const minutes = Math.round((Date.parse(fetched_at) - Date.parse(extra_values?.date ?? "")) / 60_000)
  if (Number.isNaN(minutes) || Math.abs(minutes) <= clockToleranceMinutes) return []
  return [`the clock of this machine is ${Math.abs(minutes)} minutes ${minutes > 0 ? "ahead" : "behind"}: correct it`]
}

const describeRedirect = ({ final_url, url }: FetchedPayload) =>
  new URL(final_url).host === new URL(url).host ? [] : [`it redirects to ${final_url}: the source has moved`]

const readWindow = (feed: Feed, { bytes, isRecorded, raw, window }: ProbedWindow, newestPublication?: string) => {
  const payload = parseRows(feed, { ...raw, text: decodeText(raw.url, bytes), isRecorded })
  const options = {
    requestedWindow: raw.exact ? window : undefined,
    newestPublication,
    fetchedOn: raw.fetched_at.slice(0, 10),
    isPartOfHistory: newestPublication !== undefined
  }
  return { payload, read: normalise(feed, payload, options) }
}

const listNotes = ({ isRecorded, raw }: ProbedWindow, { payload, read }: ReturnType<typeof readWindow>) => {
  const unknown = read.unknown_fields.map(({ field }) => field)
  const unmatched = read.odd_values.filter(({ kind }) => kind === "unmatched").map(describeText)
  const others = read.odd_values.filter(({ kind }) => kind !== "unmatched").map(describeText)
  return [
    ...describeRedirect(raw),
    ...(isRecorded ? [] : describeClock(raw)),
    ...[payload.otherType, payload.remark].flatMap((remark) => (remark === undefined ? [] : [`it ${remark}`])),
    ...(read.metrics_without_rows.length === 0 || payload.rows.length === 0
      ? []
      : [`no row of ${formatNames(read.metrics_without_rows)}`]),
    ...(unmatched.length === 0 ? [] : [`rows with prices match no metric: ${formatNames(unmatched)}`]),
    ...(others.length === 0 ? [] : [`texts that the catalog does not have: ${formatNames(others)}`]),
    ...(unknown.length === 0 ? [] : [`unmapped columns: ${formatNames(unknown)}`])
  ]
}

/** The first window has the newest publication. Throws `DriftFound` or `PayloadUnreadable` if a run would leave out the feed. */
export const describeFeed = (feed: Feed, windows: ReadonlyArray<ProbedWindow>): ProbeFinding => {
  const [first, ...eras] = windows
  if (first === undefined) return { feed: feed.feed, verdict: "not_asked", detail: "it was not requested" }
  const newest = readWindow(feed, first)
  const newestPublication = newestOf(newest.read.readings.map(({ published_at }) => published_at))
  const all = [newest, ...eras.map((era) => readWindow(feed, era, newestPublication))]
  const rejects = all.flatMap(({ read }) => read.rejects)
  const sentences = explainPart({
    faults: [...all.flatMap(({ read }) => read.lost_metrics), ...newest.read.possible_spellings],
    rejects,
    rows_judged: all.reduce((sum, { read }) => sum + read.rows_judged, 0)
  })
  const rows = all.reduce((sum, { payload }) => sum + payload.rows.length, 0)
  const prices = all.reduce((sum, { read }) => sum + read.readings.length, 0)
  const newest_day = newestOf(newest.read.readings.map(({ observed_on }) => observed_on))
  const reason = findCommonestReason(rejects.map((reject) => reject.reason))
  const notes = [
    ...new Set(windows.flatMap((window, index) => (all[index] === undefined ? [] : listNotes(window, all[index])))),
    ...(reason === undefined ? [] : [`${rejects.length} of ${rows} rows would be rejected, such as: ${reason}`])
  ]
  const about = { feed: feed.feed, notes, rows, prices, rejected: rejects.length, newest_day: newest_day || null }
  if (sentences.length > 0) return { ...about, verdict: "differs", detail: `left out in part: ${sentences.join(" ")}` }
  if (rows === 0) {
    const days = first.window === undefined ? "" : ` of ${first.window.from} to ${first.window.to}`
    return { ...about, verdict: "ok", detail: `${feed.title} has no row${days}` }
  }
  const latest = newest_day === "" ? "none states a price" : `${prices} prices to publish, newest ${newest_day}`
  return { ...about, verdict: "ok", detail: `${feed.title}, ${rows} rows, ${latest}` }
}
