/**
 * Follows the chain of a ledger in PostgreSQL: entries and records in the order of their numbers, which come from one
 * sequence. A transaction allocates its numbers before it ends, so a smaller number may become visible after a larger
 * one. Therefore the chain is followed only to a number up to which all transactions have ended: each writer locks the
 * table before it allocates a number and until it ends, and `pg_locks` shows that lock. No writer waits for this check.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type Head, hashLink } from "../../chain/chain.ts"
import { LedgerUnavailable } from "../../errors.ts"
import { makeRowQuery } from "../sql/database.ts"

export interface ChainPosition extends Head {
  /** Number of the last link. A string, because a number that was inserted by hand may not fit into a double. */
  readonly sequence: string
  /** The last link itself, if it was read. If the chain no longer contains it, it was replaced. */
  readonly link?: string | undefined
}

/** A link that was followed or anchored earlier is missing or has changed. */
export class BrokenChain extends Schema.TaggedError<BrokenChain>()("BrokenChain", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** Before the first link, even if its number is negative. */
export const beforeFirstLink: ChainPosition = { entries: 0, records: 0, hash: "", sequence: "-9223372036854775808" }
export const maxLinkNumber = "9223372036854775807"

/** A few milliseconds of hashing, during which a server does nothing else. */
const batchSize = 2_000

/**
 * The first letter of a link is `e` for an entry, `r` for a record. Each table returns a batch through its index. With
 * an upper limit there, PostgreSQL would expect few rows in tables that it has not analyzed, and sort all of them.
 */
const linksBetween = makeRowQuery(
  Schema.Struct({ links: Schema.Array(Schema.Tuple([Schema.String, Schema.String])) }),
  `
  select coalesce(json_agg(json_build_array(number::text, link) order by number, link), '[]') as links
  from (
    (
      select sequence as number, 'e' || hash as link
      from ledger.entry
      where sequence >= $1::text::bigint
      order by sequence
      limit ${batchSize}
    )
    union all
    (
      select number, 'r' || encode(sha256(convert_to(kind || E'\\n' || body::text, 'UTF8')), 'hex')
      from ledger.record
      where number >= $1::text::bigint
      order by number
      limit ${batchSize}
    )
    order by number
    limit ${batchSize}
  ) as link
  where number <= $2::text::bigint`
)

const addLink = (head: Head, link: string): Head => ({
  entries: head.entries + Number(link.startsWith("e")),
  records: head.records + Number(link.startsWith("r")),
  hash: hashLink(head.hash, link.slice(1))
})

/** Whether the last link is still there. Before the first link there is none. */
const isContinued = ({ link, sequence }: ChainPosition, first: readonly [string, string] | undefined) =>
  sequence === beforeFirstLink.sequence || (first?.[0] === sequence && (link === undefined || first[1] === link))

/** Follows the next links up to a number, at most `batchSize`. `onHead` receives the head after each link. */
export const followBatch = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  from: ChainPosition,
  upTo: string,
  onHead: (head: Head) => void = () => {}
) {
  const { links } = yield* linksBetween(sql, [from.sequence, upTo])
  if (!isContinued(from, links[0])) {
    const problem = `its chain does not reach entry ${from.entries} and record ${from.records} any more`
    return yield* new BrokenChain({ problem })
  }
  let head: Head = from
  for (const [, link] of from.sequence === beforeFirstLink.sequence ? links : links.slice(1)) {
    head = addLink(head, link)
    onHead(head)
  }
  const [sequence, link] = links.at(-1) ?? [from.sequence]
  const followed: ChainPosition = { ...head, sequence, link }
  return { followed, isEnd: links.length < batchSize || sequence === from.sequence }
})

export const followDatabaseChain = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  from: ChainPosition,
  upTo: string,
  onHead: (head: Head) => void = () => {}
) {
  let portion = yield* followBatch(sql, from, upTo, onHead)
  while (!portion.isEnd) portion = yield* followBatch(sql, portion.followed, upTo, onHead)
  return portion.followed
})

const storedHead = makeRowQuery(
  Schema.Struct({ entries: Schema.Int, records: Schema.Int, sequence: Schema.String, hash: Schema.String }),
  "select entries::float8, records::float8, sequence::text, hash from ledger.head"
)
export const readStoredHead = (sql: PgClient.PgClient) =>
  Effect.map(storedHead(sql), (head): ChainPosition => (head.entries + head.records === 0 ? beforeFirstLink : head))

const lastAllocated = makeRowQuery(
  Schema.Struct({ number: Schema.String }),
  `select (case when is_called then last_value else last_value - 1 end)::text as number from ledger.entry_sequence_seq`
)
/** Open transactions that may have allocated a number. A prepared transaction has no process. */
const openWriters = makeRowQuery(
  Schema.Struct({ open: Schema.Array(Schema.String) }),
  `
  select coalesce(json_agg(distinct virtualtransaction), '[]') as open
  from pg_locks
  where locktype = 'relation' and mode = 'RowExclusiveLock' and granted and pid is distinct from pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database())
    and relation in ('ledger.entry'::regclass, 'ledger.record'::regclass)`
)

const pollInterval = "5 millis"
/** A group of charges takes a few milliseconds, and waits for a lock for at most a second. */
const maxWait = 3_000

/** The largest number up to which all transactions have ended. Fails if a transaction stays open. */
export const readSettledNumber = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const { number } = yield* lastAllocated(sql)
  const since = performance.now()
  let pending = (yield* openWriters(sql)).open
  while (pending.length > 0) {
    if (performance.now() - since > maxWait) {
      const cause = "a transaction that writes entries or records has been open for seconds"
      return yield* new LedgerUnavailable({ action: "follow its chain", cause })
    }
    yield* Effect.sleep(pollInterval)
    const open = new Set((yield* openWriters(sql)).open)
    pending = pending.filter((transaction) => open.has(transaction))
  }
  return number
})
