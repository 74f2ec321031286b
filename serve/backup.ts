/**
 * A backup of everything that a server keeps: the ledger, and beside it what the console keeps, in one new DuckDB file.
 *
 * Each of the two is of one moment, the console's a little earlier. The console calls a payment, refund or dispute settled
 * only after the ledger has it, so whatever the copy of the console says is in the copy of the ledger. What came between
 * the two is in the ledger alone: where the console has the payment still open it is looked at again after a restore, and
 * its booking, which carries the payment's id, is found.
 */
import { renameSync, statSync } from "node:fs"
import path from "node:path"
import { Context, Effect, Layer, Option } from "effect"
import { ConsoleDatabase } from "./console-database/console-database.ts"
import { pack } from "./console-database/packed.ts"
import { layerConsoleDatabase } from "./console-database/place.ts"
import { Administration, BackupFailed } from "./ledger/administration.ts"
import { ownFolder, refuseExisting } from "./ledger/embedded/backup.ts"
import { syncDirectory, syncFile } from "./ledger/files.ts"
import { reachLedger } from "./ledger/reach.ts"
import { ledgerUrlSetting } from "./settings.ts"

const backUp = Effect.fn("Backup.write")(function* (
  ledger: Administration["Service"],
  database: ConsoleDatabase["Service"],
  file: string
) {
  const failed = ({ message }: { readonly message: string }) => new BackupFailed({ file, problem: message })
  yield* refuseExisting(file)
  const folder = yield* ownFolder(file)
  const [tables, copy] = [path.join(folder, "tables.duckdb"), path.join(folder, "ledger.duckdb")]
  const counts = yield* Effect.mapError(database.copyTo(tables), failed)
  const { entries } = yield* ledger
    .backup({ file: copy })
    .pipe(Effect.catchTag("BackupFailed", ({ problem }) => Effect.fail(new BackupFailed({ file, problem }))))
  if (!(yield* Effect.mapError(pack(copy, tables, counts), failed))) {
    return yield* new BackupFailed({ file, problem: "the copy does not hold what the console keeps" })
  }
  yield* refuseExisting(file)
  return yield* Effect.try({
    try: () => {
      syncFile(copy)
      renameSync(copy, file)
      syncDirectory(path.dirname(file))
      return { file, entries, bytes: statSync(file).size }
    },
    catch: (cause) => new BackupFailed({ file, problem: String(cause) })
  })
}, Effect.scoped)

/** The same administration, with backups of both. */
export const backingUpBoth = (ledger: Administration["Service"], database: ConsoleDatabase["Service"]) =>
  Administration.of({ ...ledger, backup: ({ file }) => backUp(ledger, database, file) })

/** A running server backs up what it holds by itself. */
const reach = Effect.fn("Backup.reach")(function* (home: string) {
  const { administration, server } = yield* reachLedger(home)
  if (Option.isSome(server)) return administration
  const context = yield* Layer.build(layerConsoleDatabase(home, yield* ledgerUrlSetting))
  return backingUpBoth(administration, Context.get(context, ConsoleDatabase))
})

/** For one command. */
export const layerBackingUpBoth = (home: string) => Layer.effect(Administration, reach(home))
