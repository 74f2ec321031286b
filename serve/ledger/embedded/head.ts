/** Follows the chain of a ledger in a file, and stores its head there. Entry and record numbers have no gaps. */
import type { Sqlite } from "../../persistence/index.ts"
import { type Head, hashOfRecord, isAt, linkedTo } from "../chain/chain.ts"
import { numberIn, textIn } from "./tables.ts"

/** Links per step: about 100 MB of memory. */
const linksAtOnce = 100_000

const entriesAfter = `
  select sequence, hash from ledger.entry where sequence > $1 order by sequence limit ${linksAtOnce}`
/** Records whose preceding entry is `$2` or an earlier one. */
const recordsAfter = `
  select number, after_entry, kind, body
  from ledger.record
  where number > $1 and after_entry <= $2
  order by number
  limit ${linksAtOnce}`

/** Links in order, each with its own hash. A record comes after the last entry that was written before it. */
function* linksAfter(sqlite: Sqlite, { entries, records }: Head): Generator<Head> {
  const found = sqlite.all(entriesAfter, [entries])
  const recorded = sqlite.all(recordsAfter, [records, numberIn(found.at(-1) ?? { sequence: entries }, "sequence")])
  const isCut = recorded.length === linksAtOnce // if so, more records may precede the next entries
  const upTo = isCut ? numberIn(recorded.at(-1), "after_entry") : Number.POSITIVE_INFINITY
  const hashes = found.filter((row) => numberIn(row, "sequence") <= upTo)
  let [entry, record] = [entries, records]
  const waiting = recorded.values()
  let next = waiting.next()
  const recordsUpTo = function* (sequence: number): Generator<Head> {
    for (; !next.done && numberIn(next.value, "after_entry") <= sequence; next = waiting.next()) {
      record = numberIn(next.value, "number")
      yield {
        entries: entry,
        records: record,
        hash: hashOfRecord(textIn(next.value, "kind"), textIn(next.value, "body"))
      }
    }
  }
  yield* recordsUpTo(entries)
  for (const row of hashes) {
    entry = numberIn(row, "sequence")
    yield { entries: entry, records: record, hash: textIn(row, "hash") }
    yield* recordsUpTo(entry)
  }
}

export const headIn = (sqlite: Sqlite): Head => {
  const [row] = sqlite.all("select entries, records, hash from ledger.head")
  return { entries: numberIn(row, "entries"), records: numberIn(row, "records"), hash: textIn(row, "hash") }
}

/** Follows the chain from a head to its end, and returns the new head. `seen` receives each head on the way. */
export const followChainOfFile = (sqlite: Sqlite, from: Head, seen: (head: Head) => void = () => {}): Head => {
  let head = from
  for (let before: Head | undefined; before !== head; ) {
    before = head
    for (const { entries, hash, records } of linksAfter(sqlite, head)) {
      head = { entries, records, hash: linkedTo(head.hash, hash) }
      seen(head)
    }
  }
  return head
}

/** If two connections have followed the chain, the head that is further along is kept. */
const keepHead = `
  update ledger.head set entries = $1, records = $2, hash = $3 where entries + records <= $1 + $2`

/** Follows the chain from a head to its end, and stores the new head. */
export const advanceHead = (sqlite: Sqlite, from: Head = headIn(sqlite)): Head => {
  const head = followChainOfFile(sqlite, from)
  if (head.hash !== from.hash) {
    sqlite.run(keepHead, [head.entries, head.records, head.hash])
  }
  return head
}

const ends = `
  select (select coalesce(max(sequence), 0) from ledger.entry) as entries,
    (select coalesce(max(number), 0) from ledger.record) as records`

/** How many entries and records there are. */
export const endIn = (sqlite: Sqlite): Omit<Head, "hash"> => {
  const [row] = sqlite.all(ends)
  return { entries: numberIn(row, "entries"), records: numberIn(row, "records") }
}

/** The problem if links of the chain, which was already followed to this head, are missing; otherwise undefined. */
export const cutProblem = (sqlite: Sqlite, { entries, records }: Head): string | undefined => {
  const end = endIn(sqlite)
  return end.entries < entries || end.records < records
    ? `its chain ends at entry ${end.entries} and record ${end.records}, and was followed to entry ${entries} and record ${records}`
    : undefined
}

/**
 * Why the chain does not pass through an anchor, or undefined if it does. The chain is followed only between the anchor
 * and the stored head; later links continue from one of the two. Only a verification detects a change in an older part,
 * and it does so even if every hash in the file was recomputed.
 */
export const chainProblem = (sqlite: Sqlite, kept: Head, anchor: Head): string | undefined => {
  const missing = cutProblem(sqlite, kept) ?? cutProblem(sqlite, anchor)
  if (missing !== undefined) return missing
  const isBehind = kept.entries <= anchor.entries && kept.records <= anchor.records
  const [from, to] = isBehind ? [kept, anchor] : [anchor, kept]
  let found = isAt(from, to) ? from : undefined
  followChainOfFile(sqlite, from, (head) => {
    if (isAt(head, to)) found = head
  })
  if (found === undefined) return "its chain ends before"
  return found.hash === to.hash ? undefined : "its chain is another one"
}
