/** `larder-serve`. Administrative commands work without a server, or through the one that holds the ledger. */
import { version } from "@larder/schemas"
import { makeProgram, untilStopped } from "@larder/warehouse/cli"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { accountsCommand } from "./accounts.ts"
import { configCommand } from "./config.ts"
import { keysCommand } from "./keys.ts"
import { ledgerCommand } from "./ledger/ledger.ts"
import { notifyCommand } from "./notify.ts"
import { paymentsCommand } from "./payments.ts"
import { peopleCommand } from "./people.ts"

const startFlags = {
  demo: Flag.Boolean("demo").pipe(
    Flag.withDescription(
      "Create a demo account if there is none, and print a new key for it; also print a link to the console until a person can sign in"
    ),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription(
      "Print the addresses as one JSON object on stdout, for machines; each mail that is printed is another one"
    ),
    Flag.withDefault(false)
  )
}

/** Loads the server's modules only when it runs; other commands load half as many. */
const startCommand = Command.make("start", startFlags, (flags) =>
  Effect.promise(() => import("../start.ts")).pipe(
    Effect.flatMap(({ start }) => start(flags)),
    untilStopped
  )
).pipe(Command.withDescription("Serve the warehouse until SIGTERM or Ctrl-C"))

const root = Command.make("larder-serve").pipe(
  Command.withDescription("The read-only, keyed, pay-per-call API over the warehouse"),
  Command.withSubcommands([
    startCommand,
    accountsCommand,
    keysCommand,
    peopleCommand,
    paymentsCommand,
    ledgerCommand,
    notifyCommand,
    configCommand
  ])
)

export const program = makeProgram(root, { version })
