/**
 * Follows the entries piece by piece, in the order of their numbers: that each is what was written, follows the one before
 * it, and overdraws no balance. On the way it sums up where each account has arrived and what each key has spent, in two
 * temporary tables that begin with a snapshot or with nothing. Starts, snapshots and verifications are all made of it.
 *
 * Half a million entries take 0.9 s on one thread, most of it for SHA-256. Every check is a query that says what is wrong.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { isMoneyOut } from "../money-out.ts"

/** Whose temporary tables: one of each runs at a time. */
export type Purpose = "opening" | "renewal" | "verification"

export const mostProblems = 100
/** Some 200 MB of memory. */
export const entriesPerPiece = 500_000

const Problem = Schema.Struct({ problem: Schema.String })
type Db = DuckDb["Service"]

export const problemsOf = (db: Db, check: string, params: Record<string, number> = {}) =>
  Effect.map(db.all(Problem, `${check} limit ${mostProblems}`, params), (rows) => rows.map(({ problem }) => problem))

const begin = (of: Purpose, where: string) => `
  create or replace temp table ${of}_head as
    select account_id, position, balance, hash from snapshot_account ${where};
  create or replace temp table ${of}_spending as
    select key_id, month, spent::hugeint as spent, budget from snapshot_spending ${where}`
export const beginWithSnapshot = (db: Db, of: Purpose) => db.run(begin(of, ""))
export const beginWithNothing = (db: Db, of: Purpose) => db.run(begin(of, "where false"))
export const end = (db: Db, of: Purpose) =>
  db.run(`drop table if exists ${of}_head; drop table if exists ${of}_spending`)

const newAccounts = (of: Purpose) => `
  insert into ${of}_head select id, 0, 0, '' from account where id not in (select account_id from ${of}_head)`

export const piece = "from entry where sequence > $after and sequence <= $upTo"

const numbers = `
  select case
      when number > number_before then
        format('entry {} follows entry {}, so entries are missing', number, number_before)
      else format('entry {} is there twice', number)
    end as problem
  from (
    select sequence as number, lag(sequence, 1, $after) over (order by sequence) as number_before
    from (${piece})
  )
  where number <> number_before + 1
  order by number`

/** The text of `hashOf`, with the hash before it. */
const hashed = `sha256(concat(
  previous.hash, e'\\n', e.account_id, e'\\n', e.position, e'\\n', e.type, e'\\n',
  strftime(e.occurred_at, '%Y-%m-%dT%H:%M:%S.%gZ'), e'\\n', e.key_id, e'\\n', e.endpoint, e'\\n', e.credits, e'\\n',
  e.balance, e'\\n', e.budget_credits, e'\\n', e.request_id, e'\\n', e.note
))`

/** A join is twice as fast as a window over accounts. */
const chains = (of: Purpose) => `
  with place as (
    select account_id, position, balance, hash, sequence from (${piece})
    union all
    select account_id, position, balance, hash, $after from ${of}_head
  )
  select format('entry {} of account {} (number {}) ', e.position, e.account_id, e.sequence) || case
      when e.account_id not in (select id from account) then 'is of an account that is not there'
      when previous.sequence is null then format('does not follow an entry {}, so entries are missing', e.position - 1)
      when previous.sequence >= e.sequence then format('stands before entry {}', previous.position)
      when e.balance <> previous.balance::hugeint + e.credits then
        format('says that the balance is {} credits, and the entries before it say {}', e.balance,
          previous.balance::hugeint + e.credits)
      else 'is not what was written: its hash is another one'
    end as problem
  from (${piece}) as e
  left join place as previous on previous.account_id = e.account_id and previous.position = e.position - 1
  where previous.sequence is null
    or previous.sequence >= e.sequence
    or e.balance <> previous.balance::hugeint + e.credits
    or e.hash <> ${hashed}
  order by e.sequence`

/** What calls have spent was there: a balance is below 0 by no more than the money that went out of its account. */
const overdrafts = `
  select format('entry {} of account {} (number {}) leaves a balance of {} credits', e.position, e.account_id, e.sequence,
    e.balance) as problem
  from (${piece}) as e
  left join (
    select account_id, position, -credits::hugeint as credits from entry where ${isMoneyOut} and sequence <= $upTo
  ) as gone on gone.account_id = e.account_id and gone.position <= e.position
  where e.balance < 0
  group by e.sequence, e.position, e.account_id, e.balance
  having e.balance::hugeint + coalesce(sum(gone.credits), 0) < 0
  order by e.sequence`

const repeated = `
  select format('entry {} of account {} is there {} times', position, account_id, count(*)) as problem
  from (${piece})
  group by account_id, position
  having count(*) > 1
  order by account_id, position`

/** What carries a key is a charge, or the refund of one. */
const strangers = `
  select format('entry {} of account {} was charged to key {}, which is no key of this account', position, e.account_id,
    coalesce(key_id, 'null')) as problem
  from (${piece}) as e
  where (type = 'charge' or key_id is not null)
    and not exists (from api_key where api_key.id = e.key_id and api_key.account_id = e.account_id)
  order by sequence`

const arrive = (of: Purpose) => `
  update ${of}_head as head
  set position = newest.position, balance = newest.balance, hash = newest.hash
  from (
    select account_id, max(position) as position, arg_max(balance, position) as balance, arg_max(hash, position) as hash
    from (${piece})
    group by account_id
  ) as newest
  where newest.account_id = head.account_id`

const spend = (of: Purpose) => `
  create or replace temp table ${of}_spending as
    select key_id, month, sum(spent) as spent, coalesce(max(budget), 0) as budget
    from (
      from ${of}_spending
      union all
      select key_id, (year(occurred_at) * 12 + month(occurred_at) - 1)::integer, -credits::hugeint, budget_credits
      from (${piece})
      where key_id is not null
    )
    group by key_id, month`

/** Follows the entries after a number, up to another one. What it finds wrong is returned, first things first. */
export const followPiece = Effect.fnUntraced(function* (db: Db, of: Purpose, after: number, upTo: number) {
  yield* db.run(newAccounts(of))
  const params = { after, upTo }
  const problems: Array<string> = []
  for (const check of [numbers, repeated, chains(of), overdrafts, strangers]) {
    problems.push(...(yield* problemsOf(db, check, params)))
  }
  yield* db.rows(arrive(of), params)
  yield* db.rows(spend(of), params)
  return problems
})

/** Exact: the call that was admitted last in a month saw every other one as spent or held. A refund only makes room. */
const overspent = (of: Purpose) => `
  select format('key {} was charged {} credits in {}-{:02d}, and the highest budget of these charges is {}',
    coalesce(key_id, 'null'), spent,
    month // 12, month % 12 + 1, budget) as problem
  from ${of}_spending
  where spent > budget
  order by key_id, month`

const records = `
  select format('account {} is there {} times', id, count(*)) as problem from account group by id having count(*) > 1
  union all
  select format('key {} is there {} times', id, count(*)) from api_key group by id having count(*) > 1
  union all
  select format('key {} belongs to account {}, which is not there', id, account_id)
  from api_key
  where account_id not in (select id from account)`

/** What the sums say that have been reached, and the records beside them. */
export const checkSums = Effect.fnUntraced(function* (db: Db, of: Purpose) {
  return [...(yield* problemsOf(db, records)), ...(yield* problemsOf(db, overspent(of)))]
})
