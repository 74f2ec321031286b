/** Creates many keys of an account in one statement: a thousand transactions would take half a minute on a busy machine. */
import { withConnection } from "../ledger/outage.ts"

/** Copies the only key of an account, in PostgreSQL, until the account has `count` keys. */
export const copyKeys = (url: string, account_id: string, count: number) =>
  withConnection(
    url,
    (sql) => sql`
      insert into ledger.api_key
      select (jsonb_populate_record(key, jsonb_build_object('id', key.id || number, 'sha256', key.sha256 || number))).*
      from ledger.api_key as key, generate_series(2, ${count}::integer) as number
      where key.account_id = ${account_id}`
  )
