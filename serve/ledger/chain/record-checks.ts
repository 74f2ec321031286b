/**
 * Checks that accounts, keys and payments equal their last record, as queries that SQLite and PostgreSQL run. Each
 * query returns one sentence per problem. Worker threads load this file.
 */
import { type RecordedTable, recordedTables, recordNouns } from "./recorded-tables.ts"

/** Condition in SQL: the kind of a record is unknown, or its body has no id. */
export const isOfUnknownKind = `(kind not in (${recordedTables.map((table) => `'${table}'`).join(", ")}) or body ->> 'id' is null)`

/** `asJson` casts a body to a comparable type. Only payments can be removed; their last record contains `removed`. */
const selectLastRecords = (table: RecordedTable, asJson: (body: string) => string) => `
  select cast(body ->> 'id' as text) as id, ${asJson("body")} as body,
    ${table === "payment" ? "coalesce(cast(body ->> 'removed' as text) in ('true', '1'), false)" : "false"} as is_removed
  from ledger.record
  where number in (select max(number) from ledger.record where kind = '${table}' group by body ->> 'id')
    and body ->> 'id' is not null`

/** The names of columns that have a different value in the other body, or are missing there. */
const selectChanged = (body: string, other: string, pairs: string) =>
  `select key from ${pairs}(${body}) where value is distinct from ${other} ->> key`

/**
 * `rows` selects `id` and `body` of the rows of the table. SQLite creates an index only for a left join of
 * materialized tables with ids of type text; otherwise it compares every record with every row.
 */
const selectDifferences = (table: RecordedTable, rows: string, { asJson, pairs }: RecordSyntax) => `
  with last as materialized (${selectLastRecords(table, asJson)}),
    stored as materialized (${rows}),
    pair as (
      select last.id, last.body as recorded, last.is_removed, stored.id as stored_id, stored.body
      from last
      left join stored on stored.id = last.id
      union all
      select stored.id, last.body, false, stored.id, stored.body
      from stored
      left join last on last.id = stored.id
      where last.id is null
    )
  select case
      when recorded is null then format('${recordNouns[table]} %s was never recorded', id)
      when stored_id is null then format('${recordNouns[table]} %s was recorded, but is missing', id)
      when is_removed then format('${recordNouns[table]} %s was removed, but still exists', id)
      else format('${recordNouns[table]} %s is not what was recorded: %s', id, (
        select string_agg(key, ', ')
        from (${selectChanged("body", "recorded", pairs)} union ${selectChanged("recorded", "body", pairs)}) as changed
      ))
    end as problem
  from pair
  where case when is_removed then stored_id is not null else body is distinct from recorded end
  order by id`

/** Where the databases differ. */
interface RecordSyntax {
  readonly asJson: (body: string) => string
  /** The function that returns the columns of a body, with their values as text. */
  readonly pairs: string
  readonly selectRows: (table: RecordedTable) => string
}

export const compareWithRecords = (syntax: RecordSyntax): ReadonlyArray<string> =>
  recordedTables.map((table) => selectDifferences(table, syntax.selectRows(table), syntax))
