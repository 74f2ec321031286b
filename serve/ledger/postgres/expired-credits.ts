/** Takes credits that have expired out of the balances in the database. */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Schema } from "effect"
import { expireGrants } from "../decisions.ts"
import { timestampOf } from "../moments.ts"
import { unavailable } from "./database.ts"
import { bookEntries, whileFree } from "./leases.ts"

const due = `
  select distinct account_id as id
  from ledger.expiring_grant
  where credits_left > 0 and expires_at <= $1::text::timestamptz
  order by account_id`

const Granted = Schema.Struct({
  balance: Schema.Int,
  held: Schema.Int,
  grants: Schema.Array(Schema.Struct({ position: Schema.Int, endsAt: Schema.Int, left: Schema.Int, held: Schema.Int }))
})
const decodeGranted = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ value: Granted })))
/** What an account has of grants that have ended, and what calls of all servers hold of them. */
const granted = `
  with held as (
    select grant_position, sum(credits)::bigint as credits from ledger.holding where account_id = $1 group by 1
  )
  select jsonb_build_object(
    'balance', balance,
    'held', (select coalesce(sum(credits), 0) from held),
    'grants', (
      select coalesce(jsonb_agg(jsonb_build_object('position', position, 'left', credits_left,
        'endsAt', (extract(epoch from expires_at) * 1000)::bigint, 'held', coalesce(held.credits, 0))
        order by expires_at, position), '[]')
      from ledger.expiring_grant
      left join held on held.grant_position = position
      where account_id = $1 and credits_left > 0 and expires_at <= $2::text::timestamptz
    )
  ) as value
  from ledger.account
  where id = $1`

export const expireCredits = Effect.fn("PostgresLedger.expireCredits")(
  function* (sql: PgClient.PgClient) {
    const now = yield* Clock.currentTimeMillis
    for (const { id } of yield* sql.unsafe<{ id: string }>(due, [timestampOf(now)])) {
      const expire = Effect.gen(function* () {
        const [found] = yield* Effect.flatMap(sql.unsafe(granted, [id, timestampOf(now)]), decodeGranted)
        const entries = found === undefined ? [] : expireGrants({ id, ...found.value }, found.value.grants, now)
        if (entries.length > 0) yield* bookEntries(sql, entries)
      })
      yield* whileFree(sql, [id], expire)
    }
  },
  Effect.mapError(unavailable("be written"))
)
