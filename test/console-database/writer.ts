/**
 * Writes into the console's tables until it is killed: each number into two tables, in one transaction. Prints a number
 * when its transaction has returned.
 */
import path from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { homeSetting, ledgerUrlSetting } from "@larder/serve/settings"
import { Console, Effect, Option, Redacted } from "effect"
import { storesIn } from "../payments/stores.ts"

const writeBoth = Effect.fnUntraced(function* (database: ConsoleDatabase["Service"], number: number) {
  yield* database.transaction(({ run }) =>
    Effect.andThen(
      run("insert into console.simulated (id, kind, body) values ($1, 'first', '')", [`first-${number}`]),
      run("insert into console.simulated (id, kind, body) values ($1, 'second', '')", [`second-${number}`])
    )
  )
  yield* Console.log(number)
})

Effect.gen(function* () {
  const url = yield* ledgerUrlSetting
  const home = yield* homeSetting
  yield* Effect.gen(function* () {
    const database = yield* ConsoleDatabase
    for (let number = 1; ; number++) yield* writeBoth(database, number)
  }).pipe(
    Effect.provide(
      storesIn({ folder: path.join(home, "ledger"), url: Option.getOrUndefined(Option.map(url, Redacted.value)) })
    )
  )
}).pipe(Effect.scoped, NodeRuntime.runMain)
