/**
 * Paging through a list to its end. Shops cut a page first and leave out afterwards what this visitor may not buy: so a short
 * page is not the last one, only an empty one is, and even that may have lost all it had. It is followed by one probe where
 * something seems to be missing: after a full page, while fewer are known than the shop reports, or while something is not there
 * that was listed before.
 */
import { Effect } from "effect"
import type { RawFile } from "../../run/raw-file.ts"
import type { Page } from "../feeds/page.ts"
import type { Fatal, Needs } from "./asking.ts"
import { isUnread, type Outcome, type Unread } from "./outcome.ts"

/** Ids are held in memory to tell what stands on two pages. */
const mostIds = 200_000

export interface Turned {
  readonly raw: RawFile
  readonly found: Page
  /** How many there are in all, where the answer says so. */
  readonly total?: number
}

export interface List<E, R> {
  /** Entries of a full page. */
  readonly limit: number
  /** How many the shop says there are. It counts what it does not show, too. */
  readonly reported: number | null
  /** How many there are at most. A page that is not full and comes to it is the last one. */
  readonly atMost?: number
  /** Page times limit that is answered at most. */
  readonly window?: number
  readonly turn: (page: number, before: number) => Effect.Effect<Turned, Fatal | Unread, Needs>
  /** Whether something is missing among these ids that was listed before. Absent where nothing is known of that. */
  readonly lacks?: (ids: ReadonlySet<string>) => Effect.Effect<boolean, E, R>
  readonly take: (turned: Turned) => Effect.Effect<void, E, R>
}

export interface Listed {
  /** `complete` where the list ended, also if it held nothing; the outcome of the first page where that could not be read. */
  readonly outcome: Outcome
  readonly detail: string | null
  readonly pages: number
  /** Different entries. */
  readonly listed: number
  /** Their native ids. */
  readonly ids: ReadonlySet<string>
  readonly reported: number | null
}

const isEnd = ({ outcome }: Unread) => outcome === "window" || outcome === "not_found" || outcome === "unreadable"

/** What a page that cannot be read means for the list. */
const endingOf = (error: Unread, page: number, isBeyond: boolean, isFirst: boolean) => {
  const { detail, outcome } = error
  if (isFirst) return { outcome: outcome === "window" ? "unreadable" : outcome, detail } as const
  if (outcome === "budget" || outcome === "window") return { outcome, detail } as const
  if (isBeyond && isEnd(error)) return { outcome: "window", detail } as const // recordings hold no refusals
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
    turned = undefined // else it would stay in memory while the next page is waited for
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
    if (!turned.raw.exact) break // a recording without a page number: the whole list
    if (entries < list.limit && seen.size >= (list.atMost ?? Number.POSITIVE_INFINITY)) break
    if (fresh === 0 && wasStale) return listed("broken_off", `pages ${page - 1} and ${page} hold nothing new`)
    if (seen.size > mostIds) return listed("window", `more than ${mostIds.toLocaleString("en-US")} are not read`)
    ;[previous, wasFull, wasEmpty, wasStale] = [all, entries >= list.limit, false, fresh === 0]
  }
  if (repeated > 0) return listed("moved", `${repeated} stood on two pages`)
  if (totals.size > 1) return listed("moved", `there were ${[...totals].join(", then ")} of them while they were read`)
  const [total = 0] = totals
  if (seen.size > 0 && seen.size < total)
    return listed("unclear", `its pages say that there are ${total}, and list ${seen.size}`)
  return listed("complete", null)
})
