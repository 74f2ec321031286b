/** `larder-serve ledger migrate` */
import { Effect, Option, Schema } from "effect"
import { Command } from "effect/cli"
import { moveToPostgres, usdOf } from "../../ledger/index.ts"
import { homeSetting, ledgerUrlSetting } from "../../settings.ts"
import { ledgerDirectoryIn } from "../control/reach-ledger.ts"
import { json, print } from "../flags.ts"

class NoTarget extends Schema.TaggedError<NoTarget>()("NoTarget", {}) {
  override get message() {
    return "Set LARDER_LEDGER_URL to the PostgreSQL database that shall keep the ledger, as in postgres://user:password@host/database"
  }
}

export const migrate = Command.make(
  "migrate",
  { json },
  Effect.fn(function* ({ json }) {
    const url = yield* ledgerUrlSetting
    if (Option.isNone(url)) return yield* new NoTarget()
    const moved = yield* moveToPostgres(ledgerDirectoryIn(yield* homeSetting), url.value)
    const { accounts, balance_credits, entries, keys, payments, people, place } = moved
    yield* print(json, moved, [
      `The ledger is now in ${place}: ${entries} entries, ${accounts} accounts, ${keys} keys, ${usdOf(balance_credits)} USD in all balances, the same as before.`,
      `The console's data moved with it: ${people} people, ${payments} card payments, and everything else.`,
      "Start every larder-serve with this LARDER_LEDGER_URL. The old ledger stays where it is; servers refuse to open it."
    ])
  })
).pipe(
  Command.withDescription(
    "Copy the ledger in LARDER_HOME, and what the console keeps, into the empty PostgreSQL database of LARDER_LEDGER_URL, verified; servers must be stopped"
  )
)
