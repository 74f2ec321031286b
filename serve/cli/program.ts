/**
 * `larder-serve`: serves the warehouse, also to assistants, and administers accounts, keys and the ledger. The
 * administrative commands work with or without a running server, and through it if it holds the ledger.
 */
import { version } from "@larder/schemas"
import { makeProgram } from "@larder/warehouse/cli"
import { Command } from "effect/cli"
import { accounts } from "./accounts.ts"
import { keys } from "./keys.ts"
import { ledger } from "./ledger/ledger.ts"
import { mcp } from "./mcp.ts"
import { payments } from "./payments.ts"
import { people } from "./people.ts"
import { startCommand } from "./start.ts"

const root = Command.make("larder-serve").pipe(
  Command.withDescription("The read-only, keyed, pay-per-call API over the warehouse"),
  Command.withSubcommands([startCommand, mcp, accounts, keys, people, payments, ledger])
)

export const program = makeProgram(root, { version })
