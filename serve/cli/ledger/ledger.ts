/** `larder-serve ledger export|usage|verify|backup|migrate` */
import { Command } from "effect/cli"
import { backup } from "./backup.ts"
import { exportEntries } from "./export.ts"
import { migrate } from "./migrate.ts"
import { usage } from "./usage.ts"
import { verify } from "./verify.ts"

export const ledger = Command.make("ledger").pipe(
  Command.withDescription("The ledger: every movement of credits"),
  Command.withSubcommands([exportEntries, usage, verify, backup, migrate])
)
