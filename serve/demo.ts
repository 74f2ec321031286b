/** The demo account of `npm start`: made once, with a new key each time, because a key cannot be shown again. */
import { scopes } from "@larder/schemas/scopes.ts"
import { Effect } from "effect"
import { Administration } from "./ledger/administration.ts"

const demoName = "Demo"
const demoBudgetCredits = 5_000

export const demoKey = Effect.fn("Demo.key")(function* () {
  const administration = yield* Administration
  const accounts = yield* administration.listAccounts({})
  const account =
    accounts.find(({ name }) => name === demoName) ?? (yield* administration.createAccount({ name: demoName }))
  const { key } = yield* administration.createKey({
    account_id: account.id,
    name: "npm start",
    scopes,
    budget_credits: demoBudgetCredits
  })
  return { key, account }
})
