/**
 * Reads the list of a store's products, and makes sure that missing products are gone. A product that moves to a page
 * that was already read is not found. So the store is asked for its number of products once more. If that number does
 * not confirm that all were found, and a known product is missing, the pages are read again before anything is
 * withdrawn.
 */
import { Effect } from "effect"
import { statusOf } from "./outcome.ts"
import { type List, type Listed, readList } from "./pages.ts"
import type { Fatal, Needs } from "./requests.ts"

/** What is known about a store before it is read. */
export interface Known<E, R> {
  /** Native ids of the products that the store is known to list. Queried when a list ends, and not kept. */
  readonly listed: Effect.Effect<ReadonlySet<string>, E, R>
}

export const nothingKnown: Known<never, never> = { listed: Effect.succeed(new Set()) }

interface Products<E, R> {
  readonly list: List<E, R>
  readonly known: Known<E, R>
  /** The current number of products, for a store that reported one before; null if it does not report one. */
  readonly recount: (before: number) => Effect.Effect<number | null, Fatal, Needs>
}

/** The result for a complete list after its pages were read again. */
const judge = (first: Listed, again: Listed, missing: ReadonlyArray<string>): Listed => {
  const both = { ...first, pages: first.pages + again.pages, listed: new Set([...first.ids, ...again.ids]).size }
  const { detail, outcome, reported } = again
  if (again.listed === 0 || statusOf(outcome) === "failed") {
    return { ...both, outcome: "broken_off", detail: `its pages were read again: ${detail ?? "they were empty"}` }
  }
  if (outcome !== "complete") return { ...both, outcome, detail }
  if (reported !== first.reported) {
    return {
      ...both,
      outcome: "moved",
      detail: `there were ${first.reported ?? "some"}, then ${reported ?? "some"} of them`
    }
  }
  const found = missing.filter((id) => again.ids.has(id)).length
  if (found === 0) return both
  return { ...both, outcome: "moved", detail: `${found} were found only when the pages were read again` }
}

export const readProductList = Effect.fnUntraced(function* <E, R>({ known, list, recount }: Products<E, R>) {
  const missingOf = (ids: ReadonlySet<string>) =>
    Effect.map(known.listed, (listed) => [...listed].filter((id) => !ids.has(id)))
  const lacks = (ids: ReadonlySet<string>) => Effect.map(missingOf(ids), ({ length }) => length > 0)
  const first: Listed = yield* readList({ ...list, lacks })
  if (first.outcome !== "complete" || first.listed === 0) return first

  const count = first.reported === null ? null : yield* recount(first.reported)
  if (count !== null && count !== first.reported) {
    const detail = `there were ${first.reported} when it was asked first, and ${count} when its pages had been read`
    return { ...first, outcome: "moved", detail } satisfies Listed
  }
  if (count === first.listed) return first
  const missing = yield* missingOf(first.ids)
  if (missing.length === 0) return first
  const again = yield* readList({
    ...list,
    take: (turned) => (turned.found.ids.every((id) => first.ids.has(id)) ? Effect.void : list.take(turned))
  })
  return judge(first, again, missing)
})
