/** Finds the key of a page, and tells its state. Keys of other accounts are not found. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { type PageContext, PageNotFound, redirect } from "../web/page.ts"

/** Call this before changing a key: it checks that the key belongs to the account. */
export const findOwnKey = Effect.fnUntraced(function* ({ account, params }: PageContext) {
  const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
  const key = keys.find(({ id }) => id === params.id)
  return key ?? (yield* new PageNotFound())
})

/** Whether the most recently replaced secret is still accepted. */
export const isFormerAccepted = ({ former_expires_at, revoked_at }: KeySummary, now: number) =>
  revoked_at === null && former_expires_at !== null && Date.parse(former_expires_at) > now

export const isKeyExpired = ({ expires_at }: KeySummary, now: number) =>
  expires_at !== null && Date.parse(expires_at) <= now

export const alreadyRevoked = redirect("/keys", "This key was revoked before, so nothing was changed.", "warning")
