/** Queries for accounts, keys and payments that differ from their last record. Each returns one sentence per row. */
import { nameOf, type Recorded, recordedTables } from "../../chain/recorded.ts"
import { bodyOf } from "../sql/recording.ts"

const schemaOf = { account: "ledger", api_key: "ledger", payment: "console" } satisfies Record<Recorded, string>

const lastRecorded = (table: Recorded) => `
  select distinct on (body ->> 'id') body ->> 'id' as id, body::jsonb as body,
    coalesce(body::jsonb -> 'removed' = 'true', false) as is_removed
  from ledger.record
  where kind = '${table}'
  order by body ->> 'id', number desc`

const changedColumns = `
  select string_agg(coalesce(one.key, other.key), ', ')
  from jsonb_each(last.body) as one
  full join jsonb_each(kept.body) as other on other.key = one.key
  where one.value is distinct from other.value`

/** Compares JSON values, so the result does not depend on how a text spells them. */
const checkOf = (table: Recorded, rows: string) => `
  select case
      when last.id is null then format('${nameOf[table]} %s was never recorded', kept.id)
      when kept.id is null then format('${nameOf[table]} %s was recorded, and is not there', last.id)
      when last.is_removed then format('${nameOf[table]} %s was removed, and is there', kept.id)
      else format('${nameOf[table]} %s is not what was recorded: %s', kept.id, (${changedColumns}))
    end as problem
  from (${lastRecorded(table)}) as last
  full join (${rows}) as kept
    on kept.id = last.id
  where case when last.is_removed then kept.id is not null else kept.body is distinct from last.body end
  order by coalesce(kept.id, last.id)`

const strangeRecords = `
  select format('record %s is of no account, key or payment', number) as problem
  from ledger.record
  where kind not in (${recordedTables.map((table) => `'${table}'`).join(", ")}) or body ->> 'id' is null
  order by number`

const rowsOf = (table: Recorded) =>
  `select id, ${bodyOf(table, "kept")}::jsonb as body from ${schemaOf[table]}.${table} as kept`
const noRows = "select null as id, null::jsonb as body where false"

/** The console's tables are created after those of the ledger. Until then there are no payments. */
export const recordChecks = (hasPayments: boolean): ReadonlyArray<string> => [
  ...recordedTables.map((table) => checkOf(table, table === "payment" && !hasPayments ? noRows : rowsOf(table))),
  strangeRecords
]
