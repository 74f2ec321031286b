/** Tables of `ledger.duckdb`, with the comments that their records give. */
import { readFileSync } from "node:fs"
import { commentsOf } from "@larder/warehouse/dictionary.ts"
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { Account, ApiKey, Entry } from "../records.ts"
import {
  SnapshotAccount,
  SnapshotRow,
  SnapshotSpending,
  UsageOfEndpoint,
  UsageOfMonth,
  UsageRow
} from "./derived-records.ts"
import { addToSums, addUsage } from "./usage.ts"

/** `added` is what a table of an earlier version lacks. */
const definitionOf = (name: string, record: Schema.Struct<Schema.Struct.Fields>, ...added: ReadonlyArray<string>) => {
  const ddl = readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()
  const columns = added.map((column) => `alter table ${name} add column if not exists ${column}`)
  return { tables: [ddl, ...columns], comments: commentsOf({ schema: "main", name, record, ddl }, "table") }
}

/**
 * `ledger` is the name that DuckDB gives to the database in `ledger.duckdb`: a schema of that name beside it would make
 * `from ledger.entry` ambiguous, so the tables are in `main`.
 */
const definitions = [
  definitionOf("account", Account),
  definitionOf("api_key", ApiKey),
  definitionOf("entry", Entry),
  definitionOf("usage_of_day", UsageRow, "key_hash uinteger"),
  definitionOf("usage_of_endpoint", UsageOfEndpoint),
  definitionOf("usage_of_month", UsageOfMonth),
  definitionOf("snapshot", SnapshotRow),
  definitionOf("snapshot_account", SnapshotAccount),
  definitionOf("snapshot_spending", SnapshotSpending)
]
const tables = definitions.flatMap(({ tables }) => tables)
const comments = definitions.flatMap(({ comments }) => comments)

const Written = Schema.Struct({ on: Schema.String, comment: Schema.String })
/** In the words of the statement that writes it. */
const written = `
  select format('table "main"."{}"', table_name) as on, comment
  from duckdb_tables()
  where schema_name = 'main' and comment is not null
  union all
  select format('column "main"."{}"."{}"', table_name, column_name), comment
  from duckdb_columns()
  where schema_name = 'main' and comment is not null`

/** Creates what is not there yet, and writes comments that are new: all 64 of them take longer than opening the file. */
export const define = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  yield* db.run(["begin", ...tables, "commit"].join(";\n"))
  const rows = yield* db.all(Written, written)
  const known = new Set(rows.map(({ comment, on }) => `comment on ${on} is ${literal(comment)}`))
  const missing = comments.filter((statement) => !known.has(statement))
  if (missing.length > 0) yield* db.run(["begin", ...missing, "commit"].join(";\n"))
})

const columns = `{
  account: 'STRUCT(id VARCHAR, "name" VARCHAR, created_at VARCHAR)',
  api_key: 'STRUCT(id VARCHAR, account_id VARCHAR, "name" VARCHAR, scopes VARCHAR[], budget_credits BIGINT,
    sha256 VARCHAR, last4 VARCHAR, created_at VARCHAR, revoked_at VARCHAR, revision INTEGER)',
  sequence: 'BIGINT', account_id: 'VARCHAR', position: 'BIGINT', type: 'VARCHAR', occurred_at: 'VARCHAR',
  key_id: 'VARCHAR', endpoint: 'VARCHAR', credits: 'BIGINT', balance: 'BIGINT', budget_credits: 'BIGINT',
  request_id: 'VARCHAR', note: 'VARCHAR', hash: 'VARCHAR'
}`
const linesOf = (file: string) => `read_json(${literal(file)}, format = 'newline_delimited', columns = ${columns})`

/**
 * Takes the records of a journal file into the tables, in one transaction. What is there already is left out: entries by
 * their numbers, keys by their revisions. So a file can be taken up again after a crash, with nothing twice.
 */
export const takeUp = (file: string): string => `
  begin;
  create or replace temp table line as from ${linesOf(file)};
  create or replace temp table taken as
    select sequence, account_id, position, type, occurred_at::timestamp as occurred_at, key_id, endpoint, credits,
      balance, budget_credits, request_id, note, hash
    from line
    where sequence > (select coalesce(max(sequence), 0) from entry);
  insert into entry from taken;
  ${addUsage("usage_of_day", "from taken")};
  ${addToSums("from taken").join(";\n")};
  insert into account
    select account.id, account.name, account.created_at::timestamp from line
    where account is not null and account.id not in (select id from main.account);
  create or replace temp table newest_key as
    select api_key as k from line
    where api_key is not null
      and not exists (from main.api_key known where known.id = api_key.id and known.revision >= api_key.revision)
    qualify row_number() over (partition by api_key.id order by api_key.revision desc) = 1;
  delete from api_key where id in (select k.id from newest_key);
  insert into api_key
    select k.id, k.account_id, k.name, k.scopes, k.budget_credits, k.sha256, k.last4, k.created_at::timestamp,
      k.revoked_at::timestamp, k.revision
    from newest_key;
  drop table line;
  drop table taken;
  drop table newest_key;
  commit`
