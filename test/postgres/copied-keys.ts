/** Many keys of one account, without creating them: a thousand transactions one after the other take half a minute on a busy machine. */
import { connected } from "../ledger/outage.ts"

/** Copies the only key of an account, in PostgreSQL, until it has so many. */
export const copyKeys = (url: string, account_id: string, count: number) =>
  connected(
    url,
    (sql) => sql`
      insert into ledger.api_key
      select (jsonb_populate_record(key, jsonb_build_object('id', key.id || number, 'sha256', key.sha256 || number))).*
      from ledger.api_key as key, generate_series(2, ${count}::integer) as number
      where key.account_id = ${account_id}`
  )
