/**
 * People for one command, reached as its ledger is: in PostgreSQL, in the files of this process, or through the server that
 * holds them. Whoever holds the ledger also holds the console's tables, so nobody else opens them.
 */
import { Effect, Layer, Option } from "effect"
import { layerConsoleDatabase } from "../console-database/place.ts"
import { Administration } from "../ledger/administration.ts"
import { reachLedger } from "../ledger/reach.ts"
import { consoleUrlSetting, ledgerUrlSetting } from "../settings.ts"
import { layerPeople } from "./kept-people.ts"
import { administerPeople, PeopleAdministration } from "./people-administration.ts"

const reach = Effect.fn("People.reach")(function* (home: string) {
  const { administration, server } = yield* reachLedger(home)
  if (Option.isSome(server)) return server.value.people
  const url = yield* ledgerUrlSetting
  const consoleUrl = yield* consoleUrlSetting
  const context = yield* Layer.build(layerPeople.pipe(Layer.provide(layerConsoleDatabase(home, url))))
  return yield* administerPeople(() => consoleUrl).pipe(
    Effect.provideService(Administration, administration),
    Effect.provide(context)
  )
})

export const layerPeopleAdministration = (home: string) => Layer.effect(PeopleAdministration, reach(home))
