/** `larder-serve`: serves the warehouse, also to assistants, and administers accounts, keys and the ledger. */
import { version } from "@larder/schemas/version.ts"
import { programOf } from "@larder/warehouse/command-line.ts"
import { Command } from "effect/cli"
import { adminCommands } from "./cli/admin.ts"
import { mcp } from "./cli/mcp.ts"
import { startCommand } from "./cli/start.ts"

const root = Command.make("larder-serve").pipe(
  Command.withDescription("The read-only, keyed, pay-per-call API over the warehouse"),
  Command.withSubcommands([startCommand, mcp, ...adminCommands])
)

export const program = programOf(root, { version })
