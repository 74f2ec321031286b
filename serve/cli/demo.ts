/**
 * The demo account of `npm start`. It is created once; each start creates a new key, because a key cannot be shown
 * again. Unused keys of earlier starts are revoked: keys stay visible in terminals and logs, and the number of
 * keys per account is limited.
 */
import { scopes } from "@larder/schemas"
import { DateTime, Effect } from "effect"
import { type AccountSummary, Administration } from "../ledger/index.ts"

const accountName = "Demo"
const budgetCredits = 5_000
const keyName = "npm start"

const revokeUnused = Effect.fnUntraced(function* (account: AccountSummary) {
  const administration = yield* Administration
  const keys = yield* administration.listKeys({ account_id: account.id })
  const demoKeys = keys.filter(({ name, revoked_at }) => name === keyName && revoked_at === null)
  const to = DateTime.formatIsoDateUtc(yield* DateTime.now)
  const from = account.created_at.slice(0, to.length)
  const { by_key } = yield* administration.summedUsage({ account_id: account.id, from, to })
  const used = new Set(by_key.map(({ name: keyId }) => keyId))
  const unused = demoKeys.filter(({ id }) => !used.has(id))
  yield* Effect.forEach(unused, ({ id }) => administration.revokeKey({ key_id: id }), { discard: true })
})

/** `key` is undefined if creating it failed. The reason is logged, and the server starts anyway. */
export const createDemoKey = Effect.fn("Demo.key")(function* () {
  const administration = yield* Administration
  const accounts = yield* administration.listAccounts({})
  const account =
    accounts.find(({ name }) => name === accountName) ?? (yield* administration.createAccount({ name: accountName }))
  const newKey = { account_id: account.id, name: keyName, scopes, budget_credits: budgetCredits }
  const key = yield* revokeUnused(account).pipe(
    Effect.andThen(administration.createKey(newKey)),
    Effect.map(({ key }) => key),
    Effect.catch((error) => Effect.as(Effect.logWarning(`No demo key was created. ${error.message}`), undefined))
  )
  return { account, key }
})
