/**
 * Follows the chain of a ledger in PostgreSQL: entries and records in the order of their numbers, which come from one sequence.
 *
 * Numbers are drawn before their transaction ends, so that a smaller one may appear after a larger one. The chain is followed
 * only to a number up to which all transactions have ended: each writer of entries or records locks their table before it
 * draws a number, until its end, and `pg_locks` shows it. No writer waits for that, and writing costs nothing more.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { linkedTo } from "../chain.ts"
import { LedgerUnavailable } from "../errors.ts"
import type { Head } from "../head.ts"

/** Where the chain has been followed to. */
export interface Followed extends Head {
  /** Number of the last link: a text, since a number that was put there by hand may not fit into a double. */
  readonly sequence: string
  /** The last link itself, where it was seen: as long as it is there it was not replaced. */
  readonly link?: string | undefined
}

/** What follows was drawn earlier and is not there, or is not what it was. */
export class BrokenChain extends Schema.TaggedError<BrokenChain>()("BrokenChain", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** Before the first link, wherever that is. */
export const beforeAll: Followed = { entries: 0, records: 0, hash: "", sequence: "-9223372036854775808" }
/** No number is larger. */
export const toTheEnd = "9223372036854775807"

/** A few milliseconds of hashing, in which a server does nothing else. */
const linksAtOnce = 2_000

/**
 * A letter says what a link is. Each table gives a portion by its index, and is not asked for an end: PostgreSQL, as long as it
 * has not looked at new tables, would take few rows to be between two numbers, and sort all of them for each portion.
 */
const linksBetween = `
  select coalesce(json_agg(json_build_array(number::text, link) order by number, link), '[]') as links
  from (
    (
      select sequence as number, 'e' || hash as link
      from ledger.entry
      where sequence >= $1::text::bigint
      order by sequence
      limit ${linksAtOnce}
    )
    union all
    (
      select number, 'r' || encode(sha256(convert_to(kind || E'\\n' || body::text, 'UTF8')), 'hex')
      from ledger.record
      where number >= $1::text::bigint
      order by number
      limit ${linksAtOnce}
    )
    order by number
    limit ${linksAtOnce}
  ) as link
  where number <= $2::text::bigint`

const Links = Schema.Tuple([Schema.Struct({ links: Schema.Array(Schema.Tuple([Schema.String, Schema.String])) })])
const decodeLinks = Schema.decodeUnknownEffect(Links)

const after = (head: Head, link: string): Head => ({
  entries: head.entries + Number(link.startsWith("e")),
  records: head.records + Number(link.startsWith("r")),
  hash: linkedTo(head.hash, link.slice(1))
})

/** Whether the last link is there. Before all of them there is none. */
const continues = ({ link, sequence }: Followed, first: readonly [string, string] | undefined) =>
  sequence === beforeAll.sequence || (first?.[0] === sequence && (link === undefined || first[1] === link))

/** The head after the next links up to a number, `linksAtOnce` at most. `seen` receives each head on the way. */
export const followPortion = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  from: Followed,
  upTo: string,
  seen: (head: Head) => void = () => {}
) {
  const [{ links }] = yield* Effect.flatMap(sql.unsafe(linksBetween, [from.sequence, upTo]), decodeLinks)
  if (!continues(from, links[0])) {
    const problem = `its chain does not reach entry ${from.entries} and record ${from.records} any more`
    return yield* new BrokenChain({ problem })
  }
  let head: Head = from
  for (const [, link] of from.sequence === beforeAll.sequence ? links : links.slice(1)) {
    head = after(head, link)
    seen(head)
  }
  const [sequence, link] = links.at(-1) ?? [from.sequence]
  const followed: Followed = { ...head, sequence, link }
  return { followed, isEnd: links.length < linksAtOnce || sequence === from.sequence }
})

export const followChain = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  from: Followed,
  upTo: string,
  seen: (head: Head) => void = () => {}
) {
  let portion = yield* followPortion(sql, from, upTo, seen)
  while (!portion.isEnd) portion = yield* followPortion(sql, portion.followed, upTo, seen)
  return portion.followed
})

const Kept = Schema.Tuple([
  Schema.Struct({ entries: Schema.Int, records: Schema.Int, sequence: Schema.String, hash: Schema.String })
])
const decodeKept = Schema.decodeUnknownEffect(Kept)

export const keptHead = (sql: PgClient.PgClient) =>
  sql.unsafe("select entries::float8, records::float8, sequence::text, hash from ledger.head").pipe(
    Effect.flatMap(decodeKept),
    Effect.map(([head]): Followed => (head.entries + head.records === 0 ? beforeAll : head))
  )

const lastDrawn = `
  select (case when is_called then last_value else last_value - 1 end)::text as number from ledger.entry_sequence_seq`
/** Who may have drawn a number, and has not ended. A transaction that was prepared has no process. */
const writers = `
  select coalesce(json_agg(distinct virtualtransaction), '[]') as open
  from pg_locks
  where locktype = 'relation' and mode = 'RowExclusiveLock' and granted and pid is distinct from pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database())
    and relation in ('ledger.entry'::regclass, 'ledger.record'::regclass)`

const Drawn = Schema.Tuple([Schema.Struct({ number: Schema.String })])
const Open = Schema.Tuple([Schema.Struct({ open: Schema.Array(Schema.String) })])
const decodeDrawn = Schema.decodeUnknownEffect(Drawn)
const decodeOpen = Schema.decodeUnknownEffect(Open)

const betweenLooks = "5 millis"
/** A group of charges takes some milliseconds, and waits for a lock for a second at most. */
const patience = 3_000

/** The largest number up to which everything has ended. Fails where a transaction stays open. */
export const settledNumber = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [{ number }] = yield* Effect.flatMap(sql.unsafe(lastDrawn), decodeDrawn)
  const look = Effect.map(Effect.flatMap(sql.unsafe(writers), decodeOpen), ([{ open }]) => open)
  const since = performance.now()
  let waitedFor = yield* look
  while (waitedFor.length > 0) {
    if (performance.now() - since > patience) {
      const cause = "a transaction that writes entries or records has been open for seconds"
      return yield* new LedgerUnavailable({ action: "follow its chain", cause })
    }
    yield* Effect.sleep(betweenLooks)
    const open = new Set(yield* look)
    waitedFor = waitedFor.filter((transaction) => open.has(transaction))
  }
  return number
})
