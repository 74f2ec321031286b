/**
 * Sums of entries, in addition to the balance: refunds and disputes, what keys have spent, and usage per day. An entry
 * with a key is a charge, or the refund of a call, which is subtracted. Usage of months and endpoints is derived from
 * usage of days.
 */
import { isReversal } from "../../chain/records.ts"
import { monthOfDate, monthOfTimestamp } from "./sql-expressions.ts"

export const reversals = `select account_id, position, -credits as credits from ledger.entry where type <> 'charge' and ${isReversal}`

export const reversedCredits = `
  select account_id, sum(credits) as reversed_credits from (${reversals}) as entry group by account_id`

export const spentByMonth = `
  select key_id, ${monthOfTimestamp("occurred_at")} as month, -sum(credits) as credits
  from ledger.entry
  where key_id is not null
  group by 1, 2`

export const usageOfDay = `
  select account_id, (occurred_at at time zone 'UTC')::date as day, key_id, endpoint,
    count(*) filter (where type = 'charge') - count(*) filter (where type = 'refund') as calls, -sum(credits) as credits
  from ledger.entry
  where key_id is not null
  group by 1, 2, 3, 4`

export const usageOfMonth = `
  select account_id, ${monthOfDate("day")} as month, key_id, endpoint, sum(calls) as calls,
    sum(credits) as credits
  from ledger.usage_of_day
  group by 1, 2, 3, 4`

export const usageOfEndpoint = `
  select account_id, day, endpoint, sum(calls) as calls, sum(credits) as credits
  from ledger.usage_of_day
  group by 1, 2, 3`
