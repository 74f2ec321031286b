/** Follows the chain of a ledger in a file, and stores its head there. Entry and record numbers have no gaps. */
import type { Sqlite } from "../../persistence/index.ts"
import { type Head, hashLink, hashRecord, isAtSamePlace, noHead } from "../chain/chain.ts"
import { queryRecords, readNumberCell, readTextCell } from "./tables.ts"

/** About 100 MB of memory. */
const batchSize = 100_000

/** Links in order: a record comes after the entry that was written before it. `record` is 0 for an entry. */
const linksAfter = `
  select *
  from (
    select sequence as entry, 0 as record, null as kind, hash as content
    from ledger.entry
    where sequence > $1
    order by sequence
    limit ${batchSize}
  )
  union all
  select *
  from (
    select after_entry, number, kind, body from ledger.record where number > $2 order by number limit ${batchSize}
  )
  order by entry, record
  limit ${batchSize}`

export const readHead = (sqlite: Sqlite): Head => {
  const [head = noHead] = queryRecords<Head>(sqlite, "select entries, records, hash from ledger.head")
  return head
}

/** Follows the chain from a head to its end, and returns the new head. `onHead` receives the head after each link. */
export const followFileChain = (sqlite: Sqlite, from: Head, onHead: (head: Head) => void = () => {}): Head => {
  let head = from
  for (;;) {
    const links = sqlite.all(linksAfter, [head.entries, head.records])
    for (const link of links) {
      const [entry, record] = [readNumberCell(link, "entry"), readNumberCell(link, "record")]
      const content = readTextCell(link, "content")
      head =
        record === 0
          ? { entries: entry, records: head.records, hash: hashLink(head.hash, content) }
          : {
              entries: head.entries,
              records: record,
              hash: hashLink(head.hash, hashRecord(readTextCell(link, "kind"), content))
            }
      onHead(head)
    }
    if (links.length < batchSize) return head
  }
}

/** If two connections have followed the chain, the head that is further along is kept. */
const updateHead = `
  update ledger.head set entries = $1, records = $2, hash = $3 where entries + records <= $1 + $2`

/** Follows the chain from a head to its end, and stores the new head. */
export const advanceHead = (sqlite: Sqlite, from: Head = readHead(sqlite)): Head => {
  const head = followFileChain(sqlite, from)
  if (head.hash !== from.hash) sqlite.run(updateHead, [head.entries, head.records, head.hash])
  return head
}

const selectEnds = `
  select (select coalesce(max(sequence), 0) from ledger.entry) as entries,
    (select coalesce(max(number), 0) from ledger.record) as records`

export const countLinks = (sqlite: Sqlite): Omit<Head, "hash"> => {
  const [end = noHead] = queryRecords<Omit<Head, "hash">>(sqlite, selectEnds)
  return end
}

/** The problem if links of the chain, which was already followed to this head, are missing; otherwise undefined. */
export const findTruncation = (sqlite: Sqlite, { entries, records }: Head): string | undefined => {
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
  const missing = findTruncation(sqlite, stored) ?? findTruncation(sqlite, anchor)
  if (missing !== undefined) return missing
  const isBehind = stored.entries <= anchor.entries && stored.records <= anchor.records
  const [from, to] = isBehind ? [stored, anchor] : [anchor, stored]
  let reached = isAtSamePlace(from, to) ? from : undefined
  followFileChain(sqlite, from, (head) => {
    if (isAtSamePlace(head, to)) reached = head
  })
  return reached?.hash === to.hash ? undefined : "its chain is a different one"
}
