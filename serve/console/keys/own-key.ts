/** The key that a page is about; only keys of the account are found. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { type PageContext, PageNotFound, redirect } from "../web/page.ts"

/** Call this before changing the key: it checks that the key belongs to the account. */
export const ownKey = Effect.fnUntraced(function* ({ account, params }: PageContext) {
  const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account.id }))
  const key = keys.find(({ id }) => id === params.id)
  return key ?? (yield* new PageNotFound())
})

/** Whether the most recently replaced secret is still accepted. */
export const isFormerAccepted = ({ former_expires_at, revoked_at }: KeySummary, now: number) =>
  revoked_at === null && former_expires_at !== null && Date.parse(former_expires_at) > now

export const isExpired = ({ expires_at }: KeySummary, now: number) =>
  expires_at !== null && Date.parse(expires_at) <= now

export const wasRevoked = redirect("/keys", "This key was revoked before, so nothing was changed.", "warning")
