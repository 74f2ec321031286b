/** `larder-serve ledger verify` */
import { Effect, Schema } from "effect"
import { Command } from "effect/cli"
import { Administration } from "../../ledger/administration.ts"
import { usdOf } from "../../ledger/money.ts"
import { json, print, withLedger } from "../flags.ts"

class LedgerDoesNotAddUp extends Schema.TaggedError<LedgerDoesNotAddUp>()("LedgerDoesNotAddUp", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The ledger does not add up. Nothing was changed; docs/operations.md tells how to restore it.\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}

export const verify = Command.make(
  "verify",
  { json },
  Effect.fn(function* ({ json }) {
    const found = yield* Administration.use((ledger) => ledger.verify({}))
    const { accounts, balance_credits, entries, keys, problems } = found
    const counted = `${entries} entries, ${accounts} accounts, ${keys} keys, ${usdOf(balance_credits)} USD in all balances.`
    if (json || problems.length === 0) yield* print(json, found, [`The ledger adds up: ${counted}`])
    if (problems.length > 0) return yield* new LedgerDoesNotAddUp({ problems })
  }, withLedger)
).pipe(Command.withDescription("Check every entry, balance and budget; exits with 1 and lists what is wrong"))
