/**
 * The administrative commands. They work while a server runs, through that server if it holds the ledger, and while
 * none runs.
 */
import { accounts } from "./accounts.ts"
import { keys } from "./keys.ts"
import { ledger } from "./ledger.ts"
import { payments } from "./payments.ts"
import { people } from "./people.ts"

export const adminCommands = [accounts, keys, people, payments, ledger] as const
