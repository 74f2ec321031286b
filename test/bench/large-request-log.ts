/**
 * Fills the console's tables as the calls of a large ledger would have: what each key was answered on each day, some of
 * them also that the budget is spent, and the latest calls of each account.
 */
import { consoleFileIn } from "@larder/serve/console-database/embedded.ts"
import { definitions } from "@larder/serve/console-database/tables.ts"
import { kept } from "@larder/serve/requests/batches.ts"
import { DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"

const statements = (ledgerFile: string): ReadonlyArray<string> => [
  `attach ${literal(ledgerFile)} as charged (read_only)`,
  ...definitions,
  `insert into console.usage_of_status (day, account_id, key_id, endpoint, status, calls)
    select strftime(day, '%Y-%m-%d'), account_id, key_id, endpoint, 200, calls from charged.usage_of_day
    union all
    select strftime(day, '%Y-%m-%d'), account_id, key_id, endpoint, 402, 1 from charged.usage_of_day where key_hash % 50 = 0
    order by 1`, // a server counts one day after the other
  `insert into console.request (id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at)
    select request_id, account_id, key_id, endpoint, 200, -credits, 1.5, strftime(occurred_at, '%Y-%m-%dT%H:%M:%S.%gZ')
    from charged.entry
    where type = 'charge'
    qualify row_number() over (partition by account_id order by position desc) <= ${kept}`,
  "detach charged",
  ...definitions // makes the sums anew
]

/** `directory` is the folder of the ledger, which nobody else has open. */
export const fillRequestLog = (directory: string, ledgerFile: string): Promise<void> =>
  DuckDb.readWrite(consoleFileIn(directory)).pipe(
    Effect.flatMap((db) => Effect.forEach(statements(ledgerFile), (statement) => db.run(statement), { discard: true })),
    Effect.scoped,
    Effect.runPromise
  )
