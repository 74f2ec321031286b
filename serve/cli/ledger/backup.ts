/** `larder-serve ledger backup` */
import path from "node:path"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Administration } from "../../ledger/index.ts"
import { json, print, withLedger } from "../flags.ts"

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
      `${file} contains the ledger with ${entries} entries, and the console's data (${bytes} bytes).`,
      "To restore it, put it as ledger.sqlite into an empty $LARDER_HOME/ledger."
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Write a copy of the ledger and of what the console keeps, as they are now, also while the server runs"
  )
)
