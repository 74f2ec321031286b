/**
 * Queries for broken chains; each returns one sentence per problem. Entries must follow their predecessor in the account,
 * which takes a little over a second for 100,000. A value that no entry can have, such as an infinite timestamp, makes
 * the computed hash null, which is a mismatch.
 */
import { hashAfter } from "./sql/sql-expressions.ts"

/** An empty field is hashed like null. */
const hasEmptyField = "coalesce('' in (account_id, type, key_id, endpoint, request_id, note), false)"

const brokenLinks = (entries: string, checked: string) => `
  select case
      when position is distinct from position_before + 1 then
        format('entry %s of account %s follows its entry %s, so entries are missing', position, account_id, position_before)
      when balance is distinct from balance_before + credits then
        format('entry %s of account %s has a balance of %s credits, but the entries up to it add up to %s', position,
          account_id, balance, balance_before + credits)
      when ${hasEmptyField} then
        format('entry %s of account %s is not what was written: a field is empty', position, account_id)
      else format('entry %s of account %s is not what was written: its hash does not match', position, account_id)
    end as problem
  from (
    select entry.*, lag(entry.position, 1, coalesce(start.position, 0)) over account as position_before,
      lag(entry.balance, 1, coalesce(start.balance, 0)) over account as balance_before,
      lag(entry.hash, 1, coalesce(start.hash, '')) over account as hash_before
    from ${entries} as entry
    left join ledger.chain_start as start on start.account_id = entry.account_id
    window account as (partition by entry.account_id order by entry.position)
  ) as entry
  where ${checked} and (
    position is distinct from position_before + 1
    or balance is distinct from balance_before + credits
    or hash is distinct from ${hashAfter("hash_before")}
    or ${hasEmptyField}
  )
  order by account_id, position`

export const brokenChains = brokenLinks("ledger.entry", "true")

/** Checks the newest entries of each account. The entry before them is read only to compare with it. */
export const brokenNewestLinks = (entriesPerAccount: number) =>
  brokenLinks(
    `(
      select newest.*, row_number() over (partition by newest.account_id order by newest.position desc) as age
      from ledger.account
      cross join lateral (
        select * from ledger.entry where account_id = account.id order by entry.position desc limit ${entriesPerAccount + 1}
      ) as newest
    )`,
    `age <= ${entriesPerAccount}`
  )
