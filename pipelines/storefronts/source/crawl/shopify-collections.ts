/**
 * Reads the collections of a Shopify store and their members. The `products_count` of collections is wrong in most
 * stores: it also counts products that are not shown. So the members of each collection are requested, one collection
 * at a time. If as many are found as it counts, no empty page is requested. A failure here leaves the products as they
 * were read, and the read incomplete.
 */
import { Effect } from "effect"
import { isObject, objectsOf, parseAnswer } from "../../decode/answers.ts"
import { readCollections, readMembers } from "../../decode/json/shopify-json.ts"
import { idOf } from "../../decode/page.ts"
import { Judged } from "../../decode/stated.ts"
import { isUnread, type Outcome } from "./outcome.ts"
import { readList } from "./pages.ts"
import type { Asking } from "./requests.ts"
import type { Take } from "./store-read.ts"

interface Sources<E, R> {
  readonly asking: Asking
  readonly limit: number
  readonly window: number
  readonly addressOf: (path: string, page: number) => string
  readonly take: Take<E, R>
  /** How many collections the store reports. */
  readonly reported: number | null
  /** Maximum number of collections whose members are requested. */
  readonly most: number
}

export interface CollectionsRead {
  readonly outcome: Outcome
  readonly detail: string | null
  readonly pages: number
  readonly listed: number
}

interface ToRead {
  readonly native_id: string
  readonly handle: string
}

/** The product counts above 0 that the collections of a page state, with the ids of the collections. */
const countsIn = (text: string) => {
  const answer = parseAnswer(text)
  return objectsOf(isObject(answer) ? answer.collections : undefined).flatMap(({ id, products_count }) => {
    const native_id = idOf(id)
    const isCount = typeof products_count === "number" && products_count > 0
    return native_id !== null && isCount ? [[native_id, products_count] as const] : []
  })
}

/** Outcomes that end the loop: the next collection would fail too. */
const isHopeless = (outcome: Outcome) =>
  outcome === "throttled" || outcome === "unreachable" || outcome === "broken_off"

/** Members of a collection are sorted by demand and may change places at any time: the next read corrects this. */
const isFine = (outcome: Outcome) => outcome === "complete" || outcome === "moved"

/** Shops may have an empty collection or two. If all of many are empty, the products are sold elsewhere. */
const isHeadless = (collections: number, members: number) => collections > 2 && members === 0

export const readShopifyCollections = Effect.fnUntraced(function* <E, R>(sources: Sources<E, R>) {
  const { addressOf, asking, limit, most, reported, take, window } = sources
  const toRead: Array<ToRead> = []
  const counts = new Map<string, number>()
  const judged = new Judged()
  const list = yield* readList({
    limit,
    reported: null,
    turn: (page) =>
      asking.page(addressOf("collections.json", page), [], (text) => {
        const found = readCollections(text, judged)
        for (const [native_id, count] of countsIn(text)) counts.set(native_id, count)
        return found
      }),
    take: ({ found, raw }) => {
      for (const { handle, native_id } of found.batch.collections) {
        if (handle !== null) toRead.push({ handle, native_id })
      }
      return take(found.batch, raw)
    }
  })
  let { pages } = list
  let members = 0
  const ended = (outcome: Outcome, detail: string | null): CollectionsRead => ({
    outcome,
    detail,
    pages,
    listed: list.listed
  })
  const brokenOff = (detail: string | null) => ended("broken_off", `its collections: ${detail}`)
  if (list.outcome === "window" || list.outcome === "budget") return ended(list.outcome, list.detail)
  if (!isFine(list.outcome)) return brokenOff(list.detail)
  const fault = judged.fault()
  if (fault !== null) return brokenOff(fault)
  if (list.listed === 0 && reported !== null && reported > 0) return brokenOff(`it reports ${reported} and lists none`)

  let problem: string | undefined
  for (const { handle, native_id } of toRead.slice(0, most)) {
    const path = `collections/${encodeURIComponent(handle)}/products.json`
    let isGone = false
    const atMost = counts.get(native_id)
    const own = yield* readList({
      limit,
      ...(atMost === undefined ? {} : { atMost }),
      window,
      reported: null,
      turn: (page, before) =>
        asking
          .page(addressOf(path, page), [], (text) => readMembers(text, native_id, before))
          .pipe(
            Effect.tapError((error) =>
              Effect.sync(() => {
                isGone = page === 1 && isUnread(error) && error.is_gone
              })
            )
          ),
      take: ({ found, raw }) => take(found.batch, raw)
    })
    pages += own.pages
    members += own.listed
    if (isFine(own.outcome) || isGone) continue // hidden, or gone since it was listed: it has no members
    if (own.outcome === "budget") return ended("budget", own.detail)
    problem ??= `members of ${handle}: ${own.detail}`
    if (isHopeless(own.outcome)) break
  }
  if (problem !== undefined) return brokenOff(problem)
  if (toRead.length > most) return brokenOff(`members of ${most} of ${toRead.length} were read`)
  if (isHeadless(toRead.length, members)) return brokenOff(`none of the ${toRead.length} lists a product`)
  return list.outcome === "moved" ? ended("moved", `its collections: ${list.detail}`) : ended("complete", null)
})
