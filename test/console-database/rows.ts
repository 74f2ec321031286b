/** Rows of a small table of the console's database, for tests of what both kinds of it guarantee. */
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Schema } from "effect"
import { type consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"

const Row = Schema.Struct({ id: Schema.String, body: Schema.String })
export const insert = "insert into console.simulated (id, kind, body) values ($1, 'test', $2)"
export const rows = ConsoleDatabase.use(({ all }) => all(Row, "select id, body from console.simulated order by id"))

/** Runs on new tables. */
export const runOnNewTables =
  (name: (typeof consoleDatabaseKinds)[number]) =>
  <A, E>(work: Effect.Effect<A, E, ConsoleDatabase>) =>
    Effect.flatMap(consoleDatabases[name], ({ layer }) => Effect.provide(work, layer)).pipe(Effect.scoped)
