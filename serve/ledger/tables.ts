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

/**
 * Takes the groups of a journal file into the tables, in one transaction. What is there already is left out: entries by
 * their numbers, keys by their revisions. So a file can be taken up again after a crash, with nothing twice.
 */
export const takeUp = (file: string): string => `
  begin;
  create or replace temp table incoming as
    select records from read_json(${literal(file)}, format = 'newline_delimited', maximum_object_size = 268435456, columns = {
      records: 'STRUCT(
        accounts STRUCT(id VARCHAR, "name" VARCHAR, created_at VARCHAR)[],
        keys STRUCT(id VARCHAR, account_id VARCHAR, "name" VARCHAR, scopes VARCHAR[], budget_credits BIGINT, sha256 VARCHAR,
          last4 VARCHAR, created_at VARCHAR, revoked_at VARCHAR, revision INTEGER)[],
        entries STRUCT(sequence BIGINT, "type" VARCHAR, occurred_at VARCHAR, account_id VARCHAR, key_id VARCHAR,
          endpoint VARCHAR, credits BIGINT, request_id VARCHAR, note VARCHAR)[])'
    });
  insert into account
    select a.id, a.name, a.created_at::timestamp from (select unnest(records.accounts) as a from incoming)
    where a.id not in (select id from account);
  create or replace temp table newest_key as
    select k from (select unnest(records.keys) as k from incoming)
    where not exists (from api_key known where known.id = k.id and known.revision >= k.revision)
    qualify row_number() over (partition by k.id order by k.revision desc) = 1;
  delete from api_key where id in (select k.id from newest_key);
  insert into api_key
    select k.id, k.account_id, k.name, k.scopes, k.budget_credits, k.sha256, k.last4, k.created_at::timestamp,
      k.revoked_at::timestamp, k.revision
    from newest_key;
  insert into entry
    select e.sequence, e.type, e.occurred_at::timestamp, e.account_id, e.key_id, e.endpoint, e.credits, e.request_id, e.note
    from (select unnest(records.entries) as e from incoming)
    where e.sequence > (select coalesce(max(sequence), 0) from entry)
    order by e.sequence;
  drop table incoming;
  drop table newest_key;
  commit`
