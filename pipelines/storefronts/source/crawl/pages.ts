/**
 * Pages through a list to its end. A shop first forms a page, then removes entries that are not for sale to this
 * visitor. So only an empty page means the end, and even that page may have lost all its entries. One more page is
 * requested after an empty one if something seems to be missing: the page before it was full, fewer entries were found
 * than the shop reports, or a previously listed entry was not found. A shop may also refuse the page after the last one.
 */
import { Effect } from "effect"
import type { FetchedPayload } from "../../../run/archive/fetch-list.ts"
import type { FeedPage } from "../../decode/page.ts"
import { isTimeLimit, isUnread, type StoreOutcome, type Unread } from "./outcome.ts"
import type { LocalFault, RequestNeeds } from "./requests.ts"

/** Ids are kept in memory, to detect entries that are on two pages. */
const maxIds = 200_000

interface PageRead {
  readonly raw: FetchedPayload
  readonly content: FeedPage
  readonly total?: number
}

interface RefusalAfterEnd {
  readonly statuses: ReadonlyArray<number>
  /** With one of these codes, the refusal states that there is no such page. */
  readonly codes: ReadonlyArray<string>
}

export interface PagedList<E, R> {
  readonly limit: number
  /** Number of entries that the shop reports, which includes entries that it does not show. */
  readonly reported: number | null
  /** A page that is not full and reaches this number of entries is the last one. */
  readonly maxEntries?: number
  /** Some shops refuse the page after the last one. */
  readonly refusalAfterEnd?: RefusalAfterEnd
  /** The shop does not return pages beyond this number of entries. */
  readonly window?: number
  readonly fetchPage: (page: number, before: number) => Effect.Effect<PageRead, LocalFault | Unread, RequestNeeds>
  /** Whether a previously listed entry is missing from these ids. Absent if no previous entries are known. */
  readonly hasMissing?: (ids: ReadonlySet<string>) => Effect.Effect<boolean, E, R>
  readonly takePage: (page: PageRead) => Effect.Effect<void, E, R>
}

export interface ReadPages {
  /** `complete` if the list ended, even an empty one; the outcome of the first page if it could not be read. */
  readonly outcome: StoreOutcome
  readonly detail: string | null
  readonly pages: number
  readonly listed: number
  readonly ids: ReadonlySet<string>
  readonly reported: number | null
}

const isEnd = ({ outcome }: Unread) => outcome === "window" || outcome === "not_found" || outcome === "unreadable"

/**
 * Once all entries were found, a page that is refused or has something else in place of a list is the one after the end. A
 * code alone is not enough after a full page, which may be the last one that the shop is able to show.
 */
const isAfterEnd = (
  { outcome, refusal }: Unread,
  { statuses, codes }: RefusalAfterEnd,
  { hasAll, wasFull }: { readonly hasAll: boolean; readonly wasFull: boolean }
) => {
  if (refusal === undefined) return hasAll && outcome === "unreadable"
  return statuses.includes(refusal.status) && (hasAll || (!wasFull && codes.includes(refusal.code ?? "")))
}

const describeEnding = (error: Unread, page: number, isBeyond: boolean, isFirst: boolean) => {
  const { detail, outcome } = error
  if (isFirst) return { outcome: outcome === "window" ? "unreadable" : outcome, detail } as const
  if (isTimeLimit(outcome)) return { outcome: "budget", detail } as const
  if (outcome === "window") return { outcome, detail } as const
  if (isBeyond && isEnd(error)) return { outcome: "window", detail } as const // recordings contain no refusals
  return { outcome: "broken_off", detail: `page ${page}: ${detail}` } as const
}

export const readPages = Effect.fnUntraced(function* <E, R>(list: PagedList<E, R>) {
  const { hasMissing = () => Effect.succeed(false) } = list
  const listedIds = new Set<string>()
  const totals = new Set<number>()
  let { reported } = list
  let previous: string | undefined
  let pages = 0
  let repeated = 0
  let [wasFull, wasEmpty, wasStale] = [false, false, false]
  const end = (outcome: StoreOutcome, detail: string | null): ReadPages => {
    return { outcome, detail, pages, listed: listedIds.size, ids: listedIds, reported }
  }

  let result: PageRead | Unread | undefined
  for (let page = 1; ; page++) {
    result = undefined // frees the page before the next one is fetched
    result = yield* Effect.catchIf(list.fetchPage(page, listedIds.size), isUnread, (error) => Effect.succeed(error))
    if (isUnread(result)) {
      const hasAll = reported !== null && listedIds.size >= reported
      const { refusalAfterEnd } = list
      if (pages > 0 && refusalAfterEnd && isAfterEnd(result, refusalAfterEnd, { hasAll, wasFull })) break
      const isBeyond = list.window !== undefined && page * list.limit > list.window
      const { outcome, detail } = describeEnding(result, page, isBeyond, pages === 0)
      return end(outcome, detail)
    }
    pages += 1
    if (result.total !== undefined) {
      totals.add(result.total)
      reported = result.total
    }
    const { ids, entryCount: entries } = result.content
    if (entries === 0) {
      if (wasEmpty) break
      const isShort = wasFull || (reported !== null && listedIds.size < reported)
      if (!isShort && (listedIds.size === reported || !(yield* hasMissing(listedIds)))) break
      ;[wasEmpty, wasFull] = [true, false]
      continue
    }
    const idList = ids.join()
    if (idList === previous) return end("broken_off", `page ${page} repeats the page before it`)
    const failure = yield* Effect.catchIf(list.takePage(result), isUnread, (error) => Effect.succeed(error))
    if (isUnread(failure)) return end("broken_off", `page ${page}: ${failure.detail}`)
    const before = listedIds.size
    for (const id of ids) listedIds.add(id)
    const newCount = listedIds.size - before
    repeated += new Set(ids).size - newCount
    if (!result.raw.exact) break // a recording without page numbers contains the whole list
    if (entries < list.limit && listedIds.size >= (list.maxEntries ?? Number.POSITIVE_INFINITY)) break
    if (newCount === 0 && wasStale) return end("broken_off", `pages ${page - 1} and ${page} contain nothing new`)
    if (listedIds.size > maxIds) return end("window", `more than ${maxIds.toLocaleString("en-US")} are not read`)
    ;[previous, wasFull, wasEmpty, wasStale] = [idList, entries >= list.limit, false, newCount === 0]
  }
  if (repeated > 0) return end("moved", `${repeated} were on two pages`)
  if (totals.size > 1) return end("moved", `there were ${[...totals].join(", then ")} of them while they were read`)
  const [total = 0] = totals
  if (listedIds.size > 0 && listedIds.size < total)
    return end("unclear", `its pages state that there are ${total}, and list ${listedIds.size}`)
  return end("complete", null)
})
