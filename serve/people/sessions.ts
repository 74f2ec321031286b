/**
 * Sessions, and the browsers that a person has signed in with. A token in a cookie identifies the browser (a device
 * cookie, in OWASP's terms). That token grants no access: it only exempts the browser from the waits after failed
 * sign-ins elsewhere.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { timestampOf } from "../ledger/index.ts"
import type { Statements } from "../persistence/index.ts"
import { Person, PersonId, type SignedIn } from "./person.ts"
import { hashToken, newToken } from "./tokens.ts"

const hour = 60 * 60_000
const maxSessionAge = 7 * 24 * hour
const maxIdle = 12 * hour
/** A page view is recorded only if the last record is older than this, so a session may end this much early. */
const recordInterval = 5 * 60_000
/** Counted from the latest sign-in. */
const maxBrowserAge = 180 * 24 * hour

const SessionRow = Schema.Struct({ ...Person.fields, seen_at: Schema.String })

const newSession = `
  insert into console.session (token_sha256, person_id, created_at, seen_at, expires_at) values ($1, $2, $3, $3, $4)`
const expiredSessions = "delete from console.session where expires_at <= $1 or seen_at <= $2"
const personOfSession = `
  select person.id, person.account_id, person.email, person.is_operator, session.seen_at
  from console.session as session
  join console.person as person on person.id = session.person_id
  where session.token_sha256 = $1 and session.expires_at > $2 and session.seen_at > $3`
const browserOfEmail = `
  select person.id
  from console.known_browser as browser
  join console.person as person on person.id = browser.person_id
  where browser.token_sha256 = $1 and browser.expires_at > $2 and person.email = $3`
const newBrowser = `
  insert into console.known_browser (token_sha256, person_id, created_at, expires_at) values ($1, $2, $3, $4)`
const oldBrowsers = "delete from console.known_browser where token_sha256 = $1 or expires_at <= $2"

const computeMinSeenAt = (now: number) => timestampOf(now - maxIdle)

/** Whether the person with this address has signed in with the browser of this token. */
export const isKnownBrowser = Effect.fn("People.isKnownBrowser")(function* (
  { all }: Statements,
  token: string,
  email: string
) {
  const now = timestampOf(yield* Clock.currentTimeMillis)
  return (yield* all(PersonId, browserOfEmail, [hashToken(token), now, email])).length > 0
})

/**
 * Signs a person in, and deletes sessions that have ended. The browser gets a new token, which replaces `earlierToken`,
 * even if that was another person's.
 */
export const beginSession = Effect.fn("People.beginSession")(function* (
  { run }: Statements,
  person: Person,
  earlierToken = ""
) {
  const now = yield* Clock.currentTimeMillis
  const [token, browserToken] = [yield* newToken, yield* newToken]
  const expires_at = timestampOf(now + maxSessionAge)
  const browser_expires_at = timestampOf(now + maxBrowserAge)
  yield* run(expiredSessions, [timestampOf(now), computeMinSeenAt(now)])
  yield* run(newSession, [hashToken(token), person.id, timestampOf(now), expires_at])
  yield* run(oldBrowsers, [hashToken(earlierToken), timestampOf(now)])
  yield* run(newBrowser, [hashToken(browserToken), person.id, timestampOf(now), browser_expires_at])
  const known_browser = { token: browserToken, expires_at: browser_expires_at }
  return { token, person, expires_at, known_browser } satisfies SignedIn
})

export const findSession = Effect.fn("People.session")(function* ({ all, run }: Statements, token: string) {
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* all(SessionRow, personOfSession, [hashToken(token), timestampOf(now), computeMinSeenAt(now)])
  if (row === undefined) return Option.none<Person>()
  const { seen_at, ...person } = row
  if (Date.parse(seen_at) <= now - recordInterval) {
    yield* run("update console.session set seen_at = $1 where token_sha256 = $2", [timestampOf(now), hashToken(token)])
  }
  return Option.some<Person>(person)
})

export const endSession = ({ run }: Statements, token: string) =>
  run("delete from console.session where token_sha256 = $1 returning person_id", [hashToken(token)])

/** Ends all sessions of the person, and deletes the person's known browsers. */
export const endSessionsOf = ({ run }: Statements, personId: string) =>
  Effect.andThen(
    run("delete from console.session where person_id = $1", [personId]),
    run("delete from console.known_browser where person_id = $1", [personId])
  )
