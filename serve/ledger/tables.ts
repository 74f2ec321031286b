/** Tables of `ledger.duckdb`, with the comments that their records give. */
import { readFileSync } from "node:fs"
import { commentsOf } from "@larder/warehouse/dictionary.ts"
import { literal } from "@larder/warehouse/duckdb.ts"
import type { Schema } from "effect"
import { Account, ApiKey, Entry } from "./records.ts"

const definitionOf = (name: string, record: Schema.Struct<Schema.Struct.Fields>): ReadonlyArray<string> => {
  const ddl = readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()
  return [ddl, ...commentsOf({ schema: "main", name, record, ddl }, "table")]
}

/**
 * Creates what is not there yet. `ledger` is the name that DuckDB gives to the database in `ledger.duckdb`: a schema of
 * that name beside it would make `from ledger.entry` ambiguous, so the tables are in `main`.
 */
export const definitions: ReadonlyArray<string> = [
  ...definitionOf("account", Account),
  ...definitionOf("api_key", ApiKey),
  ...definitionOf("entry", Entry)
]

const columns = `{
  account: 'STRUCT(id VARCHAR, "name" VARCHAR, created_at VARCHAR)',
  api_key: 'STRUCT(id VARCHAR, account_id VARCHAR, "name" VARCHAR, scopes VARCHAR[], budget_credits BIGINT,
    sha256 VARCHAR, last4 VARCHAR, created_at VARCHAR, revoked_at VARCHAR, revision INTEGER)',
  sequence: 'BIGINT', type: 'VARCHAR', occurred_at: 'VARCHAR', account_id: 'VARCHAR', key_id: 'VARCHAR',
  endpoint: 'VARCHAR', credits: 'BIGINT', request_id: 'VARCHAR', note: 'VARCHAR'
}`
const linesOf = (file: string) => `read_json(${literal(file)}, format = 'newline_delimited', columns = ${columns})`

/**
 * Takes the records of a journal file into the tables, in one transaction. What is there already is left out: entries by
 * their numbers, keys by their revisions. So a file can be taken up again after a crash, with nothing twice.
 */
export const takeUp = (file: string): string => `
  begin;
  insert into entry
    select sequence, type, occurred_at::timestamp, account_id, key_id, endpoint, credits, request_id, note
    from ${linesOf(file)}
    where sequence > (select coalesce(max(sequence), 0) from entry);
  create or replace temp table changed as
    select account as a, api_key as k from ${linesOf(file)} where account is not null or api_key is not null;
  insert into account
    select a.id, a.name, a.created_at::timestamp from changed
    where a is not null and a.id not in (select id from account);
  create or replace temp table newest_key as
    select k from changed
    where k is not null
      and not exists (from api_key known where known.id = k.id and known.revision >= k.revision)
    qualify row_number() over (partition by k.id order by k.revision desc) = 1;
  delete from api_key where id in (select k.id from newest_key);
  insert into api_key
    select k.id, k.account_id, k.name, k.scopes, k.budget_credits, k.sha256, k.last4, k.created_at::timestamp,
      k.revoked_at::timestamp, k.revision
    from newest_key;
  drop table changed;
  drop table newest_key;
  commit`
