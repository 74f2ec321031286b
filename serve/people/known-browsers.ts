/**
 * Browsers that a person has signed in with, identified by a token in a cookie (a device cookie, in OWASP's terms). The
 * token grants no access: it only exempts the browser from the waits after failed sign-ins elsewhere.
 */
import { Clock, Effect, Schema } from "effect"
import { timestampOf } from "../ledger/index.ts"
import type { Statements } from "../persistence/index.ts"
import { hashToken, newToken } from "./tokens.ts"

/** Counted from the latest sign-in. */
const rememberFor = 180 * 24 * 60 * 60_000

const Browser = Schema.Struct({ person_id: Schema.String })
const browserOfEmail = `
  select person.id as person_id
  from console.known_browser as browser
  join console.person as person on person.id = browser.person_id
  where browser.token_sha256 = $1 and browser.expires_at > $2 and person.email = $3`
const newBrowser = `
  insert into console.known_browser (token_sha256, person_id, created_at, expires_at) values ($1, $2, $3, $4)`
const oldBrowsers = "delete from console.known_browser where token_sha256 = $1 or expires_at <= $2"

/** Whether the person with this address has signed in with the browser of this token. */
export const isKnownBrowser = Effect.fn("People.isKnownBrowser")(function* (
  { all }: Statements,
  token: string,
  email: string
) {
  const now = timestampOf(yield* Clock.currentTimeMillis)
  const found = yield* all(Browser, browserOfEmail, [hashToken(token), now, email])
  return found.length > 0
})

/** Gives the browser a new token. It replaces the earlier token, even if that was another person's. */
export const rememberBrowser = Effect.fn("People.rememberBrowser")(function* (
  { run }: Statements,
  personId: string,
  earlierToken = ""
) {
  const now = yield* Clock.currentTimeMillis
  const token = yield* newToken
  const expires_at = timestampOf(now + rememberFor)
  yield* run(oldBrowsers, [hashToken(earlierToken), timestampOf(now)])
  yield* run(newBrowser, [hashToken(token), personId, timestampOf(now), expires_at])
  return { token, expires_at }
})

export const forgetBrowsersOf = ({ run }: Statements, personId: string) =>
  run("delete from console.known_browser where person_id = $1", [personId])
