/**
 * Reads product feeds for Google: RSS, Atom and other XML with Google's fields, TSV and CSV. The first character
 * decides the format, not the file name. An item that cannot be used becomes a reject and does not affect the others.
 * In XML, positions count the items.
 */

import { type Batching, inBatches, type RowFound } from "../csv/batching.ts"
import type { ReadFile } from "../feed.ts"
import { Unusable } from "../page.ts"
import { notText, payloadText } from "../payload-text.ts"
import { Judged } from "../stated.ts"
import { fieldsOf } from "./fields.ts"
import { type CutItem, cutItems } from "./items.ts"
import { rowOfItem } from "./rows.ts"
import { readTable } from "./tables.ts"

interface About {
  /** That of the store list. */
  readonly currency: string | null
  readonly judged: Judged
}

const rowOf = (item: CutItem, prefixes: ReadonlySet<string>, about: About): RowFound => {
  if (item.problem !== null) throw new Unusable(item.problem)
  if (item.text.includes(notText)) throw new Unusable("it has bytes that are not text in the feed's encoding")
  const { fields, inOrder } = fieldsOf(item.text, prefixes)
  const row = rowOfItem({ ...about, fields, position: item.number })
  if (inOrder || row.variant?.price !== null) return row
  throw new Unusable("it has no price, and its tags are not in order: something in it is not escaped")
}

async function* readItems(batching: Batching, pieces: AsyncIterable<string>, about: About): AsyncGenerator<void> {
  const prefixes = new Set(["g"])
  for await (const items of cutItems(pieces, prefixes)) {
    for (const item of items) {
      batching.take(item.number, item.text, () => rowOf(item, prefixes, about))
      if (batching.isFull) yield
    }
  }
}

async function* startingWith(first: string, others: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first
    yield* others
  } finally {
    await others.return(undefined)
  }
}

async function* readInto(batching: Batching, pieces: AsyncGenerator<string>, about: About): AsyncGenerator<void> {
  let piece = await pieces.next()
  while (piece.done !== true && piece.value.trim() === "") piece = await pieces.next()
  const first = piece.done === true ? "" : piece.value
  const read = first.trimStart().startsWith("<") ? readItems : readTable
  yield* read(batching, startingWith(first, pieces), about)
}

export const readGoogleMerchant: ReadFile = (bytes, { content_type, currency, judged = new Judged() }) =>
  inBatches(judged, (batching) => readInto(batching, payloadText(bytes, content_type), { currency, judged }))
