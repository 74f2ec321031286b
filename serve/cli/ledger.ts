/** `larder-serve ledger export|usage|verify|backup|migrate` */
import { Command } from "effect/cli"
import { backup } from "./ledger/backup.ts"
import { exportEntries } from "./ledger/export.ts"
import { migrate } from "./ledger/migrate.ts"
import { usage } from "./ledger/usage.ts"
import { verify } from "./ledger/verify.ts"

export const ledger = Command.make("ledger").pipe(
  Command.withDescription("The ledger: every movement of credits"),
  Command.withSubcommands([exportEntries, usage, verify, backup, migrate])
)
