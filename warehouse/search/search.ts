/** The search of current labels. Filters combine with AND; texts match literally, ignoring case. */
import { neverInText } from "./indexed-columns.ts"
import type { Labels } from "./labels.ts"
import { intersect } from "./lists.ts"
import { findPosition } from "./records.ts"
import type { TextColumn } from "./text-column.ts"

/** As the client sent them; undefined or "" means no filter. */
export type FoodFilters = Readonly<
  Partial<Record<"name" | "brand" | "category" | "barcode" | "ingredient", string | undefined>>
>

type TextColumns = Readonly<Record<"names" | "brands" | "ingredients", TextColumn>>

interface TextFilter {
  readonly column: TextColumn
  readonly text: Buffer
}

/** Undefined if no text can contain it: texts have no line breaks and no unpaired surrogates. */
const encodeFilter = (text: string) =>
  neverInText.test(text) || !text.isWellFormed() ? undefined : Buffer.from(text.toLowerCase())

const isGiven = (filter: string | undefined): filter is string => filter !== undefined && filter !== ""

/**
 * The first `limit` documents, ascending, that pass all filters and come after an fdc_id. A yield is a pause. The work
 * between two yields takes about a millisecond at most: one candidate list, 64 candidates, or one block of texts. A search
 * is fast if a filter is rare or the page fills soon. Otherwise, such as with two common filters that never match the same
 * label, texts are read from end to end, which at 2 M labels is several hundred megabytes.
 */
export function* search(
  labels: Labels,
  columns: TextColumns,
  filters: FoodFilters,
  after: number | undefined,
  limit: number
): Generator<void, ReadonlyArray<number>> {
  const texts: Array<TextFilter> = []
  // The shortest texts first: without any candidate list, these are read from end to end.
  for (const [column, text] of [
    [columns.names, filters.name],
    [columns.brands, filters.brand],
    [columns.ingredients, filters.ingredient]
  ] as const) {
    if (!isGiven(text)) continue
    const needle = encodeFilter(text)
    if (needle === undefined) return []
    texts.push({ column, text: needle })
  }
  const lists: Array<Uint32Array> = []
  if (isGiven(filters.barcode)) lists.push(labels.findByBarcode(filters.barcode))
  if (isGiven(filters.category)) lists.push(labels.findByCategory(filters.category))
  for (const { column, text } of texts) {
    if (lists.some((list) => list.length < 64)) break // checking their texts is cheaper
    const candidates = yield* column.findCandidates(text)
    if (candidates !== undefined) lists.push(candidates)
    yield
  }
  const first = after === undefined ? 0 : findPosition(labels.ids, after + 1)
  if (lists.length > 0) return yield* searchCandidates(lists, texts, first, limit)
  return yield* searchAll(labels.ids.length, texts, first, limit)
}

function* searchCandidates(lists: Array<Uint32Array>, texts: ReadonlyArray<TextFilter>, first: number, limit: number) {
  const candidates = lists.sort((a, b) => a.length - b.length).reduce(intersect)
  const matches: Array<number> = []
  let checked = 0
  for (const doc of candidates) {
    if (doc < first) continue
    if (matches.length === limit) break
    if (texts.every(({ column, text }) => column.contains(doc, text))) matches.push(doc)
    if (++checked % 64 === 0) yield
  }
  return matches
}

function* searchAll(documents: number, texts: ReadonlyArray<TextFilter>, first: number, limit: number) {
  const matches: Array<number> = []
  const [scanned, ...others] = texts
  let doc = first
  while (doc < documents && matches.length < limit) {
    const next = scanned === undefined ? { found: doc } : scanned.column.find(doc, scanned.text)
    if ("next" in next) {
      doc = next.next
      yield
      continue
    }
    if (others.every(({ column, text }) => column.contains(next.found, text))) matches.push(next.found)
    else yield
    doc = next.found + 1
  }
  return matches
}
