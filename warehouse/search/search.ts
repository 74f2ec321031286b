/**
 * The search of current labels. Filters combine with AND; texts match literally, ignoring case. Lists of candidates
 * only save work: the texts decide what matches.
 */

import { neverInText } from "./indexed-columns.ts"
import type { Labels } from "./labels.ts"
import { intersection } from "./lists.ts"
import { placeIn } from "./records.ts"
import type { TextColumn } from "./text-column.ts"

/** As the client typed them; undefined or "" means no filter. */
export interface FoodFilters {
  readonly name?: string | undefined
  readonly brand?: string | undefined
  readonly category?: string | undefined
  readonly barcode?: string | undefined
  readonly ingredient?: string | undefined
}

interface TextColumns {
  readonly names: TextColumn
  readonly brands: TextColumn
  readonly ingredients: TextColumn
}

interface TextFilter {
  readonly column: TextColumn
  readonly text: Buffer
}

/** Undefined if no text can contain it: texts have no line breaks and no unpaired surrogates. */
const needleOf = (text: string) =>
  neverInText.test(text) || !text.isWellFormed() ? undefined : Buffer.from(text.toLowerCase())

const isGiven = (filter: string | undefined): filter is string => filter !== undefined && filter !== ""

/**
 * The first `most` documents, ascending, that pass all filters and come after an fdc_id. A yield is a pause. The work
 * between two yields takes about a millisecond at most: one list of candidates, 64 candidates, or one block of texts.
 *
 * The total time varies. A search is fast if a filter is rare or the page fills soon. Two filters that each match many
 * texts, but never texts of the same label, have no lists and fill no page: their columns are read from end to end,
 * which at 2 M labels is several hundred megabytes. The same is true of every search for the last few labels of a
 * common filter.
 */
export function* search(
  labels: Labels,
  columns: TextColumns,
  filters: FoodFilters,
  after: number | undefined,
  most: number
): Generator<void, ReadonlyArray<number>> {
  const texts: Array<TextFilter> = []
  // The shortest texts first: if nothing restricts the search, they are read from end to end.
  for (const [column, text] of [
    [columns.names, filters.name],
    [columns.brands, filters.brand],
    [columns.ingredients, filters.ingredient]
  ] as const) {
    if (!isGiven(text)) continue
    const needle = needleOf(text)
    if (needle === undefined) return []
    texts.push({ column, text: needle })
  }
  const lists: Array<Uint32Array> = []
  if (isGiven(filters.barcode)) lists.push(labels.withBarcode(filters.barcode))
  if (isGiven(filters.category)) lists.push(labels.inCategory(filters.category))
  for (const { column, text } of texts) {
    if (lists.some((list) => list.length < 64)) break // checking their texts is cheaper
    const list = yield* column.candidates(text)
    if (list !== undefined) lists.push(list)
    yield
  }
  const first = after === undefined ? 0 : placeIn(labels.ids, after + 1)
  if (lists.length > 0) return yield* among(lists, texts, first, most)
  return yield* amongAll(labels.ids.length, texts, first, most)
}

function* among(lists: Array<Uint32Array>, texts: ReadonlyArray<TextFilter>, first: number, most: number) {
  const candidates = lists.sort((a, b) => a.length - b.length).reduce(intersection)
  const found: Array<number> = []
  let looked = 0
  for (const doc of candidates) {
    if (doc < first) continue
    if (found.length === most) break
    if (texts.every(({ column, text }) => column.contains(doc, text))) found.push(doc)
    if (++looked % 64 === 0) yield
  }
  return found
}

function* amongAll(documents: number, texts: ReadonlyArray<TextFilter>, first: number, most: number) {
  const found: Array<number> = []
  const [read, ...others] = texts
  let doc = first
  while (doc < documents && found.length < most) {
    const next = read === undefined ? { found: doc } : read.column.find(doc, read.text)
    if ("next" in next) {
      doc = next.next
      yield
      continue
    }
    if (others.every(({ column, text }) => column.contains(next.found, text))) found.push(next.found)
    else yield
    doc = next.found + 1
  }
  return found
}
