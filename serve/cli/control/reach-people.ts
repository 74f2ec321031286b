/**
 * People for one command. They are reached in the same way as the ledger: in PostgreSQL, in the files of this process,
 * or through the server that holds them. The process that holds the ledger also holds the console's tables, so no other
 * process opens these.
 */
import { Effect, Layer } from "effect"
import { Administration, embeddedConsole, LedgerFile, postgresConsole } from "../../ledger/index.ts"
import { administerPeople, layerPeople, PeopleAdministration } from "../../people/index.ts"
import { consoleUrlSetting } from "../../settings.ts"
import { reachLedger } from "./reach-ledger.ts"

const reach = Effect.fn("People.reach")(function* (home: string) {
  const reached = yield* reachLedger(home)
  if (reached.at === "server") return reached.server.people
  const database =
    reached.at === "file"
      ? Layer.provide(embeddedConsole, Layer.succeed(LedgerFile, reached.file))
      : postgresConsole(reached.url)
  const consoleUrl = yield* consoleUrlSetting
  const context = yield* Layer.build(Layer.provide(layerPeople, database))
  return yield* administerPeople(() => consoleUrl).pipe(
    Effect.provideService(Administration, reached.administration),
    Effect.provide(context)
  )
})

export const layerPeopleAdministration = (home: string) => Layer.effect(PeopleAdministration, reach(home))
