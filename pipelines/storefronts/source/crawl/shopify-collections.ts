/**
 * Reads the collections of a Shopify store and their members. `products_count` of a collection is wrong in most stores:
 * it also counts products that are not shown. So the members of each collection are requested, one collection at a
 * time. If the members found reach this count, no empty page is requested. A failure here makes the read incomplete,
 * but leaves the products as they were read.
 */
import { Effect } from "effect"
import { thresholds } from "../../../run/thresholds.ts"
import { FeedStats } from "../../decode/feed-stats.ts"
import { readCollections, readMembers } from "../../decode/json/shopify-json.ts"
import { isObject, parseResponse, pickObjects } from "../../decode/responses.ts"
import { parseId } from "../../decode/texts.ts"
import { isTimeLimit, isUnread, type StoreOutcome } from "./outcome.ts"
import { readPages } from "./pages.ts"
import type { StoreRequests } from "./requests.ts"
import type { TakeRows } from "./store-read.ts"

interface Sources<E, R> {
  readonly requests: StoreRequests
  readonly limit: number
  readonly window: number
  readonly makeAddress: (path: string, page: number) => string
  readonly take: TakeRows<E, R>
  /** Number of collections that the store reports. */
  readonly reported: number | null
  /** Members of further collections are not requested. */
  readonly maxCollections: number
}

/** The product counts above 0 that the collections of a page state, with the ids of the collections. */
const readCounts = (text: string) => {
  const response = parseResponse(text)
  return pickObjects(isObject(response) ? response.collections : undefined).flatMap(({ id, products_count }) => {
    const native_id = parseId(id)
    const isCount = typeof products_count === "number" && products_count > 0
    return native_id !== null && isCount ? [[native_id, products_count] as const] : []
  })
}

/** Whether the members of the next collection would fail, too. */
const failsNextCollection = (outcome: StoreOutcome) =>
  outcome === "throttled" || outcome === "unreachable" || outcome === "broken_off"

/** Members of a collection are sorted by demand and may move at any time, which the next read corrects. */
const isAcceptable = (outcome: StoreOutcome) => outcome === "complete" || outcome === "moved"

/** Shops may have an empty collection or two. If all of many are empty, the products are sold elsewhere. */
const isHeadless = (collections: number, members: number) =>
  thresholds.emptyCollections.isMetBy(collections) && members === 0

export const readShopifyCollections = Effect.fnUntraced(function* <E, R>(sources: Sources<E, R>) {
  const { makeAddress, requests, limit, maxCollections, reported, take, window } = sources
  const collections: Array<{ readonly native_id: string; readonly handle: string }> = []
  const counts = new Map<string, number>()
  const stats = new FeedStats()
  const list = yield* readPages({
    limit,
    reported: null,
    fetchPage: (page) =>
      requests.getPage(makeAddress("collections.json", page), [], (text) => {
        const content = readCollections(text, stats)
        for (const [native_id, count] of readCounts(text)) counts.set(native_id, count)
        return content
      }),
    takePage: ({ content, raw }) => {
      for (const { handle, native_id } of content.batch.collections) {
        if (handle !== null) collections.push({ handle, native_id })
      }
      return take(content.batch, raw)
    }
  })
  let { pages } = list
  let memberCount = 0
  const makeResult = (outcome: StoreOutcome, detail: string | null) => ({ outcome, detail, pages, listed: list.listed })
  const endEarly = (detail: string | null) => makeResult("broken_off", `its collections: ${detail}`)
  if (isTimeLimit(list.outcome)) return makeResult("budget", list.detail)
  if (list.outcome === "window") return makeResult("window", list.detail)
  if (!isAcceptable(list.outcome)) return endEarly(list.detail)
  const fault = stats.findFault()
  if (fault !== null) return endEarly(fault)
  if (list.listed === 0 && reported !== null && reported > 0) return endEarly(`it reports ${reported} and lists none`)

  let problem: string | undefined
  for (const { handle, native_id } of collections.slice(0, maxCollections)) {
    const path = `collections/${encodeURIComponent(handle)}/products.json`
    let isMissing = false
    const maxEntries = counts.get(native_id)
    const memberPages = yield* readPages({
      limit,
      ...(maxEntries === undefined ? {} : { maxEntries }),
      window,
      reported: null,
      fetchPage: (page, before) =>
        requests
          .getPage(makeAddress(path, page), [], (text) => readMembers(text, native_id, before))
          .pipe(
            Effect.tapError((error) =>
              Effect.sync(() => {
                isMissing = page === 1 && isUnread(error) && error.is_missing
              })
            )
          ),
      takePage: ({ content, raw }) => take(content.batch, raw)
    })
    pages += memberPages.pages
    memberCount += memberPages.listed
    if (isAcceptable(memberPages.outcome) || isMissing) continue // hidden, or removed since it was listed: it has no members
    if (isTimeLimit(memberPages.outcome)) return makeResult("budget", memberPages.detail)
    problem ??= `members of ${handle}: ${memberPages.detail}`
    if (failsNextCollection(memberPages.outcome)) break
  }
  if (problem !== undefined) return endEarly(problem)
  if (collections.length > maxCollections)
    return endEarly(`members of ${maxCollections} of ${collections.length} were read`)
  if (isHeadless(collections.length, memberCount)) return endEarly(`none of the ${collections.length} lists a product`)
  return list.outcome === "moved"
    ? makeResult("moved", `its collections: ${list.detail}`)
    : makeResult("complete", null)
})
