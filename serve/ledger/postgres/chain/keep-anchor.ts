/**
 * The chain of a ledger in PostgreSQL, for the anchor that a server maintains. Each server continues where it stopped
 * and keeps the last link in memory, so a database that was replaced, even by an older copy, is never anchored.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, type Option, Schema } from "effect"
import type { AnchorPlace } from "../../chain/anchor.ts"
import { type Head, isAtSamePlace, isSameHead } from "../../chain/chain.ts"
import { type Chain, keepAnchor } from "../../chain/keep-anchor.ts"
import { failAfter, LedgerUnavailable } from "../../errors.ts"
import { databaseUnavailable, makeQuery, makeRowQuery } from "../sql/database.ts"
import { requireFlush } from "../sql/statement-sql.ts"
import {
  BrokenChain,
  type ChainPosition,
  followBatch,
  followDatabaseChain,
  readSettledNumber,
  readStoredHead
} from "./chain.ts"

/** If millions of links take longer, the next round continues. */
const advanceTimeout = "10 seconds"
const stopTimeout = "5 seconds"

/** Flushed even if this database commits asynchronously: an anchor must not refer to a head that can be lost. */
const updateHead = `
  with flushed as materialized (select ${requireFlush})
  update ledger.head
  set entries = $1, records = $2, sequence = $3::text::bigint, hash = $4
  from flushed
  where sequence < $3::text::bigint`

/** The number of the link that is `$2` links before the last one up to the number `$1`. */
const linkBefore = makeQuery(
  Schema.Struct({ number: Schema.String }),
  `
  select number::text
  from (
    (
      select sequence as number from ledger.entry
      where sequence <= $1::text::bigint order by sequence desc limit $2::bigint + 1
    )
    union all
    (select number from ledger.record where number <= $1::text::bigint order by number desc limit $2::bigint + 1)
  ) as link
  order by number desc
  offset $2::bigint
  limit 1`
)

const countNewer = makeRowQuery(
  Schema.Struct({ entries: Schema.Int, records: Schema.Int }),
  `
  select (select count(*) from ledger.entry where sequence > $1::text::bigint)::float8 as entries,
    (select count(*) from ledger.record where number > $1::text::bigint)::float8 as records`
)

const countLinks = ({ entries, records }: Head) => entries + records

const differentChain = new BrokenChain({ problem: "its chain is a different one" })

const findAnchor = Effect.fnUntraced(function* (sql: PgClient.PgClient, stored: ChainPosition, anchor: Head) {
  const [link] = yield* linkBefore(sql, [stored.sequence, countLinks(stored) - countLinks(anchor)])
  if (link === undefined) return yield* differentChain
  return { entries: anchor.entries, records: anchor.records, hash: anchor.hash, sequence: link.number }
})

/** Follows the chain from the stored head to the anchor, or from the anchor to the stored head if the anchor is older. */
const checkAnchor = Effect.fnUntraced(function* (sql: PgClient.PgClient, stored: ChainPosition, anchor: Head) {
  if (countLinks(anchor) <= countLinks(stored)) {
    const end = yield* followDatabaseChain(sql, yield* findAnchor(sql, stored, anchor), stored.sequence)
    return isSameHead(end, stored) ? undefined : yield* differentChain
  }
  let reached: Head | undefined
  const end = yield* followDatabaseChain(sql, stored, yield* readSettledNumber(sql), (head) => {
    if (isAtSamePlace(head, anchor)) reached = head
  })
  if (reached === undefined) {
    return yield* new BrokenChain({ problem: `its chain ends at entry ${end.entries} and record ${end.records}` })
  }
  if (reached.hash !== anchor.hash) return yield* differentChain
})

/** Adds a timeout, and maps SQL and decoding errors to `LedgerUnavailable`. */
const withTimeout = <A, E>(work: Effect.Effect<A, E>, duration: typeof advanceTimeout | typeof stopTimeout) =>
  Effect.mapError(work, databaseUnavailable("follow its chain")).pipe(
    failAfter(duration, (cause) => new LedgerUnavailable({ action: "follow its chain", cause }))
  )

const databaseChain = (sql: PgClient.PgClient): Chain => {
  let followed: ChainPosition | undefined
  /** A timeout keeps the batches that were followed, so they are not followed again. */
  const advance = Effect.gen(function* () {
    const upTo = yield* readSettledNumber(sql)
    for (;;) {
      const before = followed ?? (yield* readStoredHead(sql))
      const portion = yield* followBatch(sql, before, upTo)
      const { entries, hash, records, sequence } = portion.followed
      if (hash !== before.hash) yield* sql.unsafe(updateHead, [entries, records, sequence, hash])
      followed = portion.followed
      if (portion.isEnd) return followed
    }
  })
  return {
    compareWith: (anchor) =>
      Effect.gen(function* () {
        const stored = yield* readStoredHead(sql)
        yield* checkAnchor(sql, stored, anchor)
        followed = stored
        const newer = yield* countNewer(sql, [stored.sequence])
        return {
          problem: undefined,
          entries: stored.entries + newer.entries - anchor.entries,
          records: stored.records + newer.records - anchor.records
        }
      }).pipe(
        Effect.catchTag("BrokenChain", ({ problem }) => Effect.succeed({ problem, entries: 0, records: 0 })),
        Effect.mapError(databaseUnavailable("be compared with its anchor"))
      ),
    advance: withTimeout(advance, advanceTimeout),
    advanceAtStop: withTimeout(advance, stopTimeout)
  }
}

/** `open` opens the ledger. No anchor is written before the ledger is open. */
export const keepDatabaseAnchor = <A, E, R>(
  sql: PgClient.PgClient,
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) => keepAnchor(databaseChain(sql), place, open)
