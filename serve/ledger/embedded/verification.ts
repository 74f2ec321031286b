/**
 * Checks the whole ledger from its first entry on, while it is written: piece by piece, so that take-ups come in between
 * and memory stays bounded. What is kept beside the entries is compared at the moment that it speaks of: the snapshot at
 * its number, the running server at the number that it had reached, usage at the last entry.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { Verification } from "../administration.ts"
import { beginning, type ChainHead } from "../chain.ts"
import {
  beginWithNothing,
  checkSums,
  end,
  entriesPerPiece,
  followPiece,
  mostProblems,
  piece,
  problemsOf
} from "./check-entries.ts"
import type { LedgerDatabase } from "./ledger-database.ts"
import { headsIn } from "./opening.ts"
import { differences, lastCovered, lastEntry, snapshotProblems } from "./snapshot.ts"
import { addUsage, sumDifferences } from "./usage.ts"

type Db = DuckDb["Service"]
const of = "verification"

/** What the state machine held at a moment. */
export interface Held {
  readonly sequence: number
  readonly heads: ReadonlyMap<string, ChainHead>
}

/** Credits are summed in more digits than their columns have: what is damaged may be any number. */
const beginUsage = `
  create or replace temp table verification_usage as
    select day, account_id, key_id, endpoint, calls::hugeint as calls, credits::hugeint as credits, key_hash
    from usage_of_day
    limit 0`

const usageDifferences = `
  select format('the usage of key {} of account {} on {} for {} is {} calls and {} credits, and its charges are {} and {}',
    coalesce(key_id, 'null'), account_id, day::varchar, coalesce(endpoint, 'null'), coalesce(kept.calls, 0), coalesce(kept.credits, 0),
    coalesce(charged.calls, 0), coalesce(charged.credits, 0)) as problem
  from (
    select day, account_id, key_id, endpoint, sum(calls) as calls, sum(credits) as credits from usage_of_day group by all
  ) as kept
  full join verification_usage as charged using (day, account_id, key_id, endpoint)
  where (kept.calls, kept.credits) is distinct from (charged.calls, charged.credits)
  order by day, account_id, key_id, endpoint`

/** A balance that is damaged may be any number: no more is told than a number can be. */
const most = Number.MAX_SAFE_INTEGER
const totals = `
  select (select count(*) from account)::double as accounts, (select count(*) from api_key)::double as keys,
    (select count(*) from entry)::double as entries,
    (select greatest(-${most}, least(${most}, coalesce(sum(balance), 0))) from verification_head)::double
      as balance_credits`

const Totals = Verification.mapFields(({ problems: _, ...rest }) => rest)

const told = ({ balance, position }: ChainHead) => `at its entry ${position} with ${balance} credits`

const headDifferences = (held: Held["heads"], stored: Held["heads"]) =>
  [...new Set([...held.keys(), ...stored.keys()])].flatMap((id) => {
    const here = held.get(id) ?? beginning
    const there = stored.get(id) ?? beginning
    return here.position === there.position && here.balance === there.balance && here.hash === there.hash
      ? []
      : [`account ${id} is ${told(here)} in the running server, and ${told(there)} in the database`]
  })

/** Goes on to the next number at which something is to be compared, at most a piece further. */
const goOn = Effect.fnUntraced(function* (db: Db, reached: number, held: Held) {
  const [covered, last] = [yield* lastCovered(db), yield* lastEntry(db)]
  const stops = [reached + entriesPerPiece, last, covered, held.sequence].filter((stop) => stop > reached)
  const upTo = Math.min(last, ...stops)
  const problems = yield* followPiece(db, of, reached, upTo)
  yield* db.rows(addUsage("verification_usage", piece), { after: reached, upTo })
  if (upTo === covered) problems.push(...(yield* problemsOf(db, differences(of))))
  if (upTo === held.sequence) problems.push(...headDifferences(held.heads, yield* headsIn(db, of)))
  if (upTo < last) return { upTo, problems, totals: undefined }

  if (last < held.sequence) {
    problems.push(`the database ends at entry ${last}, and the running server has written ${held.sequence}`)
  }
  problems.push(...(yield* checkSums(db, of)), ...(yield* problemsOf(db, usageDifferences)))
  for (const sumDifference of sumDifferences) problems.push(...(yield* problemsOf(db, sumDifference)))
  const [counted] = yield* db.all(Totals, totals)
  return { upTo, problems, totals: counted }
})

/** Some 200 MB of memory; each part reads all request ids, 0.7 s at 10 million. */
const requestIdsAtOnce = 2_000_000
/** Without the casts DuckDB divides in 128 bits, which takes thirteen times as long. */
const repeatedRequests = `
  select format('{} {} was {} {} times', case when type in ('charge', 'refund') then 'request' else type end,
    coalesce(request_id, 'null'),
    case type when 'charge' then 'charged' when 'refund' then 'given back' else 'booked' end, count(*)) as problem
  from entry
  where sequence <= $upTo and (type = 'charge' or request_id is not null)
    and hash(request_id) % $parts::ubigint = $part::ubigint
  group by request_id, type
  having count(*) > 1`

/** A request id that comes twice is looked for in parts: each id is in one of them. */
const repeatedRequestsUpTo = Effect.fnUntraced(function* ({ use }: LedgerDatabase, upTo: number) {
  const problems: Array<string> = []
  const parts = Math.ceil(upTo / requestIdsAtOnce)
  for (let part = 0; part < parts; part++) {
    problems.push(...(yield* use((db) => problemsOf(db, repeatedRequests, { upTo, parts, part }))))
  }
  return problems
})

const dropSums = (db: Db) => Effect.andThen(end(db, of), db.run("drop table if exists verification_usage"))

/** `held` was in memory before the database was brought up to it. */
export const verify = Effect.fn("EmbeddedStore.verify")(
  function* (database: LedgerDatabase, held: Held) {
    const { use } = database
    const problems: Array<string> = []
    const goOnFrom = (reached: number) =>
      Effect.tap(
        use((db) => goOn(db, reached, held)),
        (found) => Effect.sync(() => problems.push(...found.problems))
      )
    yield* use((db) => Effect.andThen(beginWithNothing(db, of), db.run(beginUsage)))
    problems.push(...(yield* use(snapshotProblems)))
    let found = yield* goOnFrom(0)
    while (found.totals === undefined) found = yield* goOnFrom(found.upTo)
    problems.push(...(yield* repeatedRequestsUpTo(database, found.upTo)))
    return { ...found.totals, problems: problems.slice(0, mostProblems) }
  },
  // where this fails, the database was closed, and temporary tables went with it
  (verified, { use }) => Effect.ensuring(verified, Effect.ignore(use(dropSums)))
)
