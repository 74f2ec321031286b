/** `larder-serve`: serves the warehouse, and administers accounts, keys and the ledger. */
import { runCommand } from "@larder/warehouse/command-line.ts"
import { Command } from "effect/cli"
import { adminCommands } from "./cli/admin.ts"
import manifest from "./package.json" with { type: "json" }
import { startCommand } from "./start.ts"

const root = Command.make("larder-serve").pipe(
  Command.withDescription("The read-only, keyed, pay-per-call API over the warehouse"),
  Command.withSubcommands([startCommand, ...adminCommands])
)

runCommand(root, { version: manifest.version })
