/**
 * Fills the console's tables for the calls of a large ledger: daily counts of each key and status, including refusals
 * of some keys whose budget is spent, and the latest calls of each account.
 */
import { openLedgerFile } from "@larder/serve/ledger"
import type { Sqlite } from "@larder/serve/persistence"
import { checkpoint } from "@larder/serve/persistence/checkpoints.ts"
import { Effect } from "effect"

const maxKeptCalls = 10_000 // the default of LARDER_KEPT_REQUESTS

const statements: ReadonlyArray<string> = [
  `insert into console.usage_of_status (day, account_id, key_id, endpoint, status, calls)
    select day, account_id, key_id, endpoint, 200, calls from ledger.usage_of_day
    union all
    select day, account_id, key_id, endpoint, 402, 1
    from ledger.usage_of_day
    where key_id in (select id from ledger.api_key where rowid % 50 = 0)
    order by 1`, // a server adds the counts day by day
  `insert into console.status_of_endpoint (account_id, day, endpoint, status, calls)
    select account_id, day, endpoint, status, sum(calls) from console.usage_of_status group by 1, 2, 3, 4`,
  `insert into console.request (id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at)
    select request_id, entry.account_id, key_id, endpoint, 200, -credits, 1.5, occurred_at
    from ledger.account
    cross join ledger.entry_place as place
      on place.account_id = account.id and place.position > (
        select max(position) - ${maxKeptCalls} from ledger.entry_place where entry_place.account_id = account.id
      )
    cross join ledger.entry on entry.sequence = place.sequence and entry.type = 'charge'`
]

const fill = (sqlite: Sqlite) => {
  for (const statement of statements) {
    sqlite.run(statement)
    checkpoint(sqlite)
  }
}

/** `directory` is the folder of the ledger, which nothing else has open. */
export const fillRequestLog = (directory: string): Promise<void> =>
  openLedgerFile(directory).pipe(
    Effect.map(({ reading }) => fill(reading)), // this connection also has the sums
    Effect.scoped,
    Effect.runPromise
  )
