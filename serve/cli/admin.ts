/** The administrative commands. They work with or without a running server, and through it if it holds the ledger. */
import { accounts } from "./accounts.ts"
import { keys } from "./keys.ts"
import { ledger } from "./ledger.ts"
import { payments } from "./payments.ts"
import { people } from "./people.ts"

export const adminCommands = [accounts, keys, people, payments, ledger] as const
