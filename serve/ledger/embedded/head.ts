/** Follows the chain of a ledger in a file, and stores its head there. Entry and record numbers have no gaps. */
import type { Sqlite } from "../../persistence/index.ts"
import { type Head, hashLink, hashRecord, isAtSamePlace } from "../chain/chain.ts"
import { readNumberCell, readTextCell } from "./tables.ts"

/** About 100 MB of memory. */
const batchSize = 100_000

const entriesAfter = `
  select sequence, hash from ledger.entry where sequence > $1 order by sequence limit ${batchSize}`
const recordsAfter = `
  select number, after_entry, kind, body
  from ledger.record
  where number > $1 and after_entry <= $2
  order by number
  limit ${batchSize}`

/** Links in order, each with its own hash. A record comes after the entry that was written before it. */
function* readLinksAfter(sqlite: Sqlite, { entries, records }: Head): Generator<Head> {
  const entryRows = sqlite.all(entriesAfter, [entries])
  const recordRows = sqlite.all(recordsAfter, [
    records,
    readNumberCell(entryRows.at(-1) ?? { sequence: entries }, "sequence")
  ])
  const isCut = recordRows.length === batchSize // if so, more records may precede the next entries
  const upTo = isCut ? readNumberCell(recordRows.at(-1), "after_entry") : Number.POSITIVE_INFINITY
  const hashes = entryRows.filter((row) => readNumberCell(row, "sequence") <= upTo)
  let [entry, record] = [entries, records]
  const waiting = recordRows.values()
  let next = waiting.next()
  const recordsUpTo = function* (sequence: number): Generator<Head> {
    for (; !next.done && readNumberCell(next.value, "after_entry") <= sequence; next = waiting.next()) {
      record = readNumberCell(next.value, "number")
      yield {
        entries: entry,
        records: record,
        hash: hashRecord(readTextCell(next.value, "kind"), readTextCell(next.value, "body"))
      }
    }
  }
  yield* recordsUpTo(entries)
  for (const row of hashes) {
    entry = readNumberCell(row, "sequence")
    yield { entries: entry, records: record, hash: readTextCell(row, "hash") }
    yield* recordsUpTo(entry)
  }
}

export const readHead = (sqlite: Sqlite): Head => {
  const [row] = sqlite.all("select entries, records, hash from ledger.head")
  return {
    entries: readNumberCell(row, "entries"),
    records: readNumberCell(row, "records"),
    hash: readTextCell(row, "hash")
  }
}

/** Follows the chain from a head to its end, and returns the new head. `seen` receives each head on the way. */
export const followFileChain = (sqlite: Sqlite, from: Head, seen: (head: Head) => void = () => {}): Head => {
  let head = from
  for (let before: Head | undefined; before !== head; ) {
    before = head
    for (const { entries, hash, records } of readLinksAfter(sqlite, head)) {
      head = { entries, records, hash: hashLink(head.hash, hash) }
      seen(head)
    }
  }
  return head
}

/** If two connections have followed the chain, the head that is further along is kept. */
const updateHead = `
  update ledger.head set entries = $1, records = $2, hash = $3 where entries + records <= $1 + $2`

/** Follows the chain from a head to its end, and stores the new head. */
export const advanceHead = (sqlite: Sqlite, from: Head = readHead(sqlite)): Head => {
  const head = followFileChain(sqlite, from)
  if (head.hash !== from.hash) {
    sqlite.run(updateHead, [head.entries, head.records, head.hash])
  }
  return head
}

const ends = `
  select (select coalesce(max(sequence), 0) from ledger.entry) as entries,
    (select coalesce(max(number), 0) from ledger.record) as records`

export const countLinks = (sqlite: Sqlite): Omit<Head, "hash"> => {
  const [row] = sqlite.all(ends)
  return { entries: readNumberCell(row, "entries"), records: readNumberCell(row, "records") }
}

/** The problem if links of the chain, which was already followed to this head, are missing; otherwise undefined. */
export const findCut = (sqlite: Sqlite, { entries, records }: Head): string | undefined => {
  const end = countLinks(sqlite)
  return end.entries < entries || end.records < records
    ? `its chain ends at entry ${end.entries} and record ${end.records}, and was followed to entry ${entries} and record ${records}`
    : undefined
}

/**
 * Why the chain does not pass through an anchor, or undefined if it does. It is followed only between the anchor and the
 * stored head; only a verification detects a change in an older part, even if every hash in the file was recomputed.
 */
export const findChainProblem = (sqlite: Sqlite, stored: Head, anchor: Head): string | undefined => {
  const missing = findCut(sqlite, stored) ?? findCut(sqlite, anchor)
  if (missing !== undefined) return missing
  const isBehind = stored.entries <= anchor.entries && stored.records <= anchor.records
  const [from, to] = isBehind ? [stored, anchor] : [anchor, stored]
  let reached = isAtSamePlace(from, to) ? from : undefined
  followFileChain(sqlite, from, (head) => {
    if (isAtSamePlace(head, to)) reached = head
  })
  if (reached === undefined) return "its chain ends before"
  return reached.hash === to.hash ? undefined : "its chain is another one"
}
