/** `larder-ingest lake`: writes what is live into the lake, for other engines. */
import { catchUp, NoWarehouse, writeLake } from "@larder/warehouse"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { openHome } from "../run/run.ts"
import { formatKibibytes, jsonFlag, quietFlag, quietly } from "./flags.ts"

export const lakeCommand = Command.make(
  "lake",
  { json: jsonFlag(), quiet: quietFlag },
  Effect.fn(function* ({ json }) {
    const layout = yield* openHome
    yield* catchUp(layout)
    const written = yield* writeLake(layout)
    if (written === undefined) return yield* new NoWarehouse({ dir: layout.dir })
    const { bytes, generation, tables } = written
    if (json) return yield* Console.log(JSON.stringify(written))
    yield* Console.log(
      `${layout.depot.location}/lake has ${generation}. New versions of tables: ${tables.length}, ${formatKibibytes(bytes)}.`
    )
  }, quietly)
).pipe(Command.withDescription("Write what is live into the lake, as Parquet and Delta logs for other engines"))
