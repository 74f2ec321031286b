/**
 * Checks that accounts, keys and payments equal their last record, as queries that SQLite and PostgreSQL run. Each query
 * returns one sentence per problem. Threads load this file.
 */
import { type RecordedTable, recordedTables, recordNames } from "./recorded-tables.ts"

/** Whether a record belongs to no row that the ledger records. */
export const isOfUnknownKind = `(kind not in (${recordedTables.map((table) => `'${table}'`).join(", ")}) or body ->> 'id' is null)`

/** `asJson` casts a body to the type in which bodies are compared. A removed payment has a record without columns. */
const selectLastRecords = (table: RecordedTable, asJson: (body: string) => string) => `
  select body ->> 'id' as id, ${asJson("body")} as body,
    coalesce(cast(body ->> 'removed' as text) in ('true', '1'), false) as is_removed
  from ledger.record
  where number in (select max(number) from ledger.record where kind = '${table}' group by body ->> 'id')
    and body ->> 'id' is not null`

/** `rows` selects `id` and `body` of the rows of the table. */
const selectDifferences = (table: RecordedTable, rows: string, { asJson, each }: RecordSyntax) => `
  select case
      when last.id is null then format('${recordNames[table]} %s was never recorded', stored.id)
      when stored.id is null then format('${recordNames[table]} %s was recorded, but is missing', last.id)
      when last.is_removed then format('${recordNames[table]} %s was removed, but still exists', stored.id)
      else format('${recordNames[table]} %s is not what was recorded: %s', stored.id, (
        select string_agg(cell.key, ', ')
        from ${each}(stored.body) as cell
        where cell.value is distinct from last.body ->> cell.key
      ))
    end as problem
  from (${selectLastRecords(table, asJson)}) as last
  full join (${rows}) as stored on stored.id = last.id
  where case when last.is_removed then stored.id is not null else stored.body is distinct from last.body end
  order by coalesce(stored.id, last.id)`

/** Where the databases differ. */
interface RecordSyntax {
  readonly asJson: (body: string) => string
  /** The function that returns the columns of a body, with their values as text. */
  readonly each: string
  readonly selectRows: (table: RecordedTable) => string
}

export const compareWithRecords = (syntax: RecordSyntax): ReadonlyArray<string> =>
  recordedTables.map((table) => selectDifferences(table, syntax.selectRows(table), syntax))
