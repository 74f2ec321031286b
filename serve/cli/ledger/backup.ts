/** `larder-serve ledger backup` */
import path from "node:path"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { layerBackingUpBoth } from "../../backup.ts"
import { Administration } from "../../ledger/administration.ts"
import { homeSetting } from "../../settings.ts"
import { json, print } from "../flags.ts"

/** Here, or in the server that holds them. */
const withBoth = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerBackingUpBoth(home)))

export const backup = Command.make(
  "backup",
  {
    to: Flag.String("to").pipe(Flag.withMetavar("FILE"), Flag.withDescription("File to write; it must not exist yet")),
    json
  },
  Effect.fn(function* ({ json, to }) {
    const written = yield* Administration.use((ledger) => ledger.backup({ file: path.resolve(to) }))
    const { bytes, entries, file } = written
    yield* print(json, written, [
      `${file} holds the ledger with its ${entries} entries, and what the console keeps (${bytes} bytes).`,
      "To restore it, put it as ledger.duckdb into an empty $LARDER_HOME/ledger."
    ])
  }, withBoth)
).pipe(
  Command.withDescription(
    "Write a copy of the ledger and of what the console keeps, as they are now, also while the server runs"
  )
)
