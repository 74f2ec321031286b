/** `larder-serve ledger usage` */
import { Day, daysBefore } from "@larder/schemas"
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Administration, usdOf } from "../../ledger/index.ts"
import { account, json, print, table, withLedger } from "../flags.ts"

const day = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("DAY"),
    Flag.withDescription(description),
    Flag.withSchema(Day),
    Flag.optional
  )

export const usage = Command.make(
  "usage",
  {
    account,
    from: day("from", "First day in UTC; without it a year before the last one"),
    to: day("to", "Last day in UTC; without it today"),
    json
  },
  Effect.fn(function* ({ account, from, json, to }) {
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    const last = Option.getOrElse(to, () => today)
    const first = Option.getOrElse(from, () => daysBefore(last, 365))
    const days = yield* Administration.use((ledger) => ledger.usage({ account_id: account, from: first, to: last }))
    const rows = days.map(({ calls, credits, day, endpoint, key_id }) => [
      day,
      key_id,
      endpoint,
      String(calls),
      `${usdOf(credits)} USD`
    ])
    const none = `Account ${account} was charged for no call from ${first} to ${last}.`
    yield* print(
      json,
      days,
      rows.length === 0 ? [none] : table([["day", "key", "endpoint", "calls", "charged"], ...rows])
    )
  }, withLedger)
).pipe(Command.withDescription("Calls and credits of an account per day, key and endpoint"))
