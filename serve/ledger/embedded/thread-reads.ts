/**
 * What a thread reads for `embedded-store.ts`: entries in pages (through `entry_place` as far as it covers them, newer
 * ones from `entry`), and keys as they are stored.
 */
import type { Sqlite } from "../../persistence/index.ts"
import type { Input } from "../administration.ts"
import type { Entry } from "../chain/records.ts"
import { indexedUpTo } from "./progress.ts"
import { entryColumns, keyColumns, queryRecords } from "./tables.ts"

export interface PageBefore extends Omit<Input<"entriesBefore">, "before"> {
  readonly before: number
}

const isIndexed = `sequence <= ${indexedUpTo}`
const isNotIndexed = `sequence > ${indexedUpTo}`
const qualifyColumns = (table: string) =>
  entryColumns
    .split(",")
    .map((column) => `${table}.${column.trim()}`)
    .join(", ")

const indexedEntries = `
  select ${qualifyColumns("entry")}
  from sums.entry_place as place
  cross join ledger.entry on entry.sequence = place.sequence
  where place.account_id = $1 and place.position < $2 and place.${isIndexed}`
const newestEntries = `select ${entryColumns} from ledger.entry where ${isNotIndexed} and account_id = $1 and position < $2`
/** For all types except charges: their index is always up to date. */
const entriesExceptCharges = `
  select ${entryColumns}
  from ledger.entry indexed by entry_but_charge
  where type <> 'charge' and account_id = $1 and position < $2`

const whereTypes = (types: PageBefore["types"]) =>
  types === undefined ? "" : `and type in (${types.map((type) => `'${type}'`).join(", ")})`

const selectPageBefore = (types: PageBefore["types"]) =>
  types === undefined || types.includes("charge")
    ? `select * from (${newestEntries} ${whereTypes(types)} order by sequence desc limit $3)
      union all
      select * from (${indexedEntries} ${whereTypes(types)} order by place.position desc limit $3)
      limit $3`
    : `${entriesExceptCharges} ${whereTypes(types)} order by position desc limit $3`

/** The newest entries of an account below a position, newest first. */
export const readBefore = (sqlite: Sqlite, { account_id, before, limit, types }: PageBefore): ReadonlyArray<Entry> =>
  types?.length === 0 ? [] : queryRecords(sqlite, selectPageBefore(types), [account_id, before, limit])

const pageAfter = `
  select * from (
    select ${qualifyColumns("entry")}
    from sums.entry_place as place
    cross join ledger.entry on entry.sequence = place.sequence
    where place.account_id = $1 and place.position > $2 and place.${isIndexed} and place.sequence <= $3
    order by place.position
    limit $4
  )
  union all
  select * from (
    select ${entryColumns} from ledger.entry
    where ${isNotIndexed} and sequence <= $3 and account_id = $1 and position > $2
    order by sequence
    limit $4
  )
  limit $4`

/** Entries of an account after a position, up to the entry with the number `last`, oldest first. */
export const readAfter = (sqlite: Sqlite, accountId: string, after: number, last: number, limit: number) =>
  queryRecords<Entry>(sqlite, pageAfter, [accountId, after, last, limit])

/** The stored columns of each key as JSON, by the key's id. */
export const readStoredKeys = (sqlite: Sqlite): ReadonlyMap<string, string> =>
  new Map(
    sqlite
      .all(`select ${keyColumns.join(", ")} from ledger.api_key`)
      .map((row): [string, string] => [String(row.id), JSON.stringify(Object.values(row))])
  )
