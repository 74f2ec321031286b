/**
 * The snapshot: what the entries up to a number come to. It is renewed in the background from itself and the entries that
 * came since, which are checked on the way, so that a start reads no more than them, however long the ledger is.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Clock, Effect, Schema } from "effect"
import { timestampOf } from "../moments.ts"
import { beginWithSnapshot, checkSums, end, entriesPerPiece, followPiece, type Purpose } from "./check-entries.ts"

type Db = DuckDb["Service"]

/** A start checks so many in 0.7 s on two threads; renewing costs the background 1.3 s on one. */
const entriesBetween = 500_000

const Sequence = Schema.Struct({ sequence: Schema.Int })
const numberIn = (rows: ReadonlyArray<typeof Sequence.Type>) => rows[0]?.sequence ?? 0

/** Both answer from zone maps: 4 ms at 10 million entries. */
export const lastEntry = (db: Db) =>
  Effect.map(db.all(Sequence, "select coalesce(max(sequence), 0)::double as sequence from entry"), numberIn)
export const lastCovered = (db: Db) =>
  Effect.map(db.all(Sequence, "select sequence::double as sequence from snapshot"), numberIn)

const digestOf = (sequence: string) => `sha256(concat(
  ${sequence}, e'\\n',
  (select string_agg(concat_ws(' ', account_id, position, balance, hash), e'\\n' order by account_id) from snapshot_account),
  e'\\n',
  (select string_agg(concat_ws(' ', key_id, month, spent, budget), e'\\n' order by key_id, month) from snapshot_spending)
))`

const Damage = Schema.Struct({ problem: Schema.String })
const damage = `
  select 'the snapshot is not what was written: its digest is another one' as problem
  from snapshot
  where digest <> ${digestOf("sequence")}
  union all
  select format('there are {} snapshots', count(*)) from snapshot having count(*) > 1
  union all
  select 'the snapshot is missing, and its accounts are there'
  where not exists (from snapshot) and exists (from snapshot_account)
  union all
  select format('the snapshot covers entry {}, and the last entry is {}', sequence, last)
  from snapshot, (select coalesce(max(sequence), 0) as last from entry)
  where sequence > last`

/** What is wrong with the snapshot itself. */
export const snapshotProblems = (db: Db) =>
  Effect.map(db.all(Damage, damage), (rows) => rows.map(({ problem }) => problem))

/** What is wrong with the snapshot beside sums that were reached anew at its number. */
export const differences = (of: Purpose) => `
  select format('the snapshot says that account {} is at its entry {} with {} credits, and its entries say {} with {}',
    account_id, coalesce(s.position, 0), coalesce(s.balance, 0), coalesce(e.position, 0), coalesce(e.balance, 0)) as problem
  from snapshot_account as s
  full join ${of}_head as e using (account_id)
  where coalesce(s.position, 0) <> coalesce(e.position, 0) or coalesce(s.balance, 0) <> coalesce(e.balance, 0)
    or coalesce(s.hash, '') <> coalesce(e.hash, '')
  union all
  select format('the snapshot says that key {} spent {} of {} credits in {}-{:02d}, and its charges say {} of {}',
    coalesce(key_id, 'null'),
    coalesce(s.spent, 0), coalesce(s.budget, 0), month // 12, month % 12 + 1, coalesce(e.spent, 0), coalesce(e.budget, 0))
  from snapshot_spending as s
  full join ${of}_spending as e using (key_id, month)
  where (s.spent, s.budget) is distinct from (e.spent::bigint, e.budget)`

const replace = (sequence: number, takenAt: string) => `
  begin;
  delete from snapshot;
  delete from snapshot_account;
  delete from snapshot_spending;
  insert into snapshot_account from renewal_head where position > 0;
  insert into snapshot_spending from renewal_spending;
  insert into snapshot select ${sequence}, ${literal(takenAt)}::timestamp, ${digestOf(String(sequence))};
  commit`

/** Follows all entries after a number. Stops at the first piece in which something is wrong. */
export const followAll = Effect.fnUntraced(function* (db: Db, of: Purpose, after: number, upTo: number) {
  for (let reached = after; reached < upTo; reached += entriesPerPiece) {
    const problems = yield* followPiece(db, of, reached, Math.min(upTo, reached + entriesPerPiece))
    if (problems.length > 0) return problems
  }
  return yield* checkSums(db, of)
})

/** Renews the snapshot where enough entries have come since. What is wrong with them is returned, and the old one stays. */
export const renewSnapshot = Effect.fn("EmbeddedStore.renewSnapshot")(function* (db: Db, between = entriesBetween) {
  const [covered, last] = [yield* lastCovered(db), yield* lastEntry(db)]
  if (last - covered < between) return []
  yield* beginWithSnapshot(db, "renewal")
  const problems = [...(yield* snapshotProblems(db)), ...(yield* followAll(db, "renewal", covered, last))]
  if (problems.length === 0) yield* db.run(replace(last, timestampOf(yield* Clock.currentTimeMillis)))
  yield* end(db, "renewal")
  return problems
})
