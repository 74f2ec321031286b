/**
 * Pages through a list to its end. A shop first cuts a page and then removes entries that this visitor may not buy. So
 * a short page does not mean the end; only an empty page does, and even that page may have lost all its entries. After
 * an empty page, one more page is requested if something seems to be missing: the page before it was full, fewer
 * entries were found than the shop reports, or a previously listed entry was not found.
 */
import { Effect } from "effect"
import type { RawFile } from "../../../run/archive/fetch-list.ts"
import type { Page } from "../../decode/page.ts"
import { isUnread, type Outcome, type Unread } from "./outcome.ts"
import type { Fatal, Needs } from "./requests.ts"

/** Ids are held in memory to detect entries that are on two pages. */
const mostIds = 200_000

export interface Turned {
  readonly raw: RawFile
  readonly found: Page
  /** The total number of entries, if the answer states it. */
  readonly total?: number
}

export interface List<E, R> {
  /** Entries of a full page. */
  readonly limit: number
  /** How many entries the shop reports. It also counts entries that it does not show. */
  readonly reported: number | null
  /** The maximum number of entries. A page that is not full and reaches it is the last one. */
  readonly atMost?: number
  /** The highest page number times limit that is answered. */
  readonly window?: number
  readonly turn: (page: number, before: number) => Effect.Effect<Turned, Fatal | Unread, Needs>
  /** Whether a previously listed entry is missing from these ids. Absent if nothing is known about previous entries. */
  readonly lacks?: (ids: ReadonlySet<string>) => Effect.Effect<boolean, E, R>
  readonly take: (turned: Turned) => Effect.Effect<void, E, R>
}

export interface Listed {
  /** `complete` if the list ended, even if it was empty; the outcome of the first page if that could not be read. */
  readonly outcome: Outcome
  readonly detail: string | null
  readonly pages: number
  /** Distinct entries. */
  readonly listed: number
  /** Their native ids. */
  readonly ids: ReadonlySet<string>
  readonly reported: number | null
}

const isEnd = ({ outcome }: Unread) => outcome === "window" || outcome === "not_found" || outcome === "unreadable"

/** The outcome of a list of which a page cannot be read. */
const endingOf = (error: Unread, page: number, isBeyond: boolean, isFirst: boolean) => {
  const { detail, outcome } = error
  if (isFirst) return { outcome: outcome === "window" ? "unreadable" : outcome, detail } as const
  if (outcome === "budget" || outcome === "window") return { outcome, detail } as const
  if (isBeyond && isEnd(error)) return { outcome: "window", detail } as const // recordings contain no refusals
  return { outcome: "broken_off", detail: `page ${page}: ${detail}` } as const
}

export const readList = Effect.fnUntraced(function* <E, R>(list: List<E, R>) {
  const { lacks = () => Effect.succeed(false) } = list
  const seen = new Set<string>()
  const totals = new Set<number>()
  let { reported } = list
  let previous: string | undefined
  let pages = 0
  let repeated = 0
  let [wasFull, wasEmpty, wasStale] = [false, false, false]
  const listed = (outcome: Outcome, detail: string | null): Listed => ({
    outcome,
    detail,
    pages,
    listed: seen.size,
    ids: seen,
    reported
  })

  let turned: Turned | Unread | undefined
  for (let page = 1; ; page++) {
    turned = undefined // otherwise it would stay in memory while the next page is fetched
    turned = yield* Effect.catchIf(list.turn(page, seen.size), isUnread, (error) => Effect.succeed(error))
    if (isUnread(turned)) {
      const isBeyond = list.window !== undefined && page * list.limit > list.window
      const { outcome, detail } = endingOf(turned, page, isBeyond, pages === 0)
      return listed(outcome, detail)
    }
    pages += 1
    if (turned.total !== undefined) {
      totals.add(turned.total)
      reported = turned.total
    }
    const { ids, listed: entries } = turned.found
    if (entries === 0) {
      if (wasEmpty) break
      const isShort = wasFull || (reported !== null && seen.size < reported)
      if (!isShort && (seen.size === reported || !(yield* lacks(seen)))) break
      ;[wasEmpty, wasFull] = [true, false]
      continue
    }
    const all = ids.join()
    if (all === previous) return listed("broken_off", `page ${page} repeats the page before it`)
    const taken = yield* Effect.catchIf(list.take(turned), isUnread, (error) => Effect.succeed(error))
    if (isUnread(taken)) return listed("broken_off", `page ${page}: ${taken.detail}`)
    const before = seen.size
    for (const id of ids) seen.add(id)
    const fresh = seen.size - before
    repeated += new Set(ids).size - fresh
    if (!turned.raw.exact) break // a recording without page numbers holds the whole list
    if (entries < list.limit && seen.size >= (list.atMost ?? Number.POSITIVE_INFINITY)) break
    if (fresh === 0 && wasStale) return listed("broken_off", `pages ${page - 1} and ${page} hold nothing new`)
    if (seen.size > mostIds) return listed("window", `more than ${mostIds.toLocaleString("en-US")} are not read`)
    ;[previous, wasFull, wasEmpty, wasStale] = [all, entries >= list.limit, false, fresh === 0]
  }
  if (repeated > 0) return listed("moved", `${repeated} were on two pages`)
  if (totals.size > 1) return listed("moved", `there were ${[...totals].join(", then ")} of them while they were read`)
  const [total = 0] = totals
  if (seen.size > 0 && seen.size < total)
    return listed("unclear", `its pages say that there are ${total}, and list ${seen.size}`)
  return listed("complete", null)
})
