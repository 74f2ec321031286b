/**
 * Queries for broken chains and wrong records; each returns one sentence per problem. Entries must follow their
 * predecessor in the account, which takes a little over a second for 100,000. A value that no entry can have, such as
 * an infinite timestamp, makes the computed hash null, which is a mismatch.
 */
import { compareWithRecords, isOfUnknownKind } from "../../chain/record-checks.ts"
import type { RecordedTable } from "../../chain/recorded-tables.ts"
import { recordInPostgres } from "../sql/recording.ts"
import { hashAfter } from "../sql/sql-expressions.ts"

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
    select *, lag(position, 1, 0::bigint) over account as position_before,
      lag(balance, 1, 0::bigint) over account as balance_before, lag(hash, 1, '') over account as hash_before
    from ${entries} as entry
    window account as (partition by account_id order by position)
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

const schemas = { account: "ledger", api_key: "ledger", payment: "console" } satisfies Record<RecordedTable, string>

const unknownRecords = `
  select format('record %s does not belong to an account, a key or a payment', number) as problem
  from ledger.record
  where ${isOfUnknownKind}
  order by number`

const noRows = "select null as id, null::jsonb as body where false"

/** The console's tables are created after those of the ledger. Until then there are no payments. */
export const recordChecks = (hasPayments: boolean): ReadonlyArray<string> => [
  ...compareWithRecords({
    asJson: (body) => `${body}::jsonb`, // so the result does not depend on the formatting of the JSON
    pairs: "jsonb_each_text",
    selectRows: (table) =>
      table === "payment" && !hasPayments
        ? noRows
        : `select id, ${recordInPostgres(table, "kept")}::jsonb as body from ${schemas[table]}.${table} as kept`
  }),
  unknownRecords
]
