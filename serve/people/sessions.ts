/** Sessions last at most seven days, and end after twelve hours without activity. */
import { Clock, Effect, Option, Schema } from "effect"
import { timestampOf } from "../ledger/index.ts"
import type { Statements } from "../persistence/index.ts"
import { forgetBrowsersOf, rememberBrowser } from "./known-browsers.ts"
import { Person, type SignedIn } from "./people.ts"
import { hashToken, newToken } from "./tokens.ts"

const hour = 60 * 60_000
const maxAge = 7 * 24 * hour
const maxIdle = 12 * hour
/** A page view is recorded only if the last record is older than this, so a session may end this much early. */
const seenInterval = 5 * 60_000

const SessionRow = Schema.Struct({ ...Person.fields, seen_at: Schema.String })

const newSession = `
  insert into console.session (token_sha256, person_id, created_at, seen_at, expires_at) values ($1, $2, $3, $3, $4)`
const expiredSessions = "delete from console.session where expires_at <= $1 or seen_at <= $2"
const personOfSession = `
  select person.id, person.account_id, person.email, person.is_operator, session.seen_at
  from console.session as session
  join console.person as person on person.id = session.person_id
  where session.token_sha256 = $1 and session.expires_at > $2 and session.seen_at > $3`

const minSeenAt = (now: number) => timestampOf(now - maxIdle)

/** Signs a person in, and deletes sessions that have ended. The known browser gets a new token for `earlierToken`. */
export const beginSession = Effect.fn("People.beginSession")(function* (
  statements: Statements,
  person: Person,
  earlierToken?: string
) {
  const { run } = statements
  const now = yield* Clock.currentTimeMillis
  const token = yield* newToken
  const expires_at = timestampOf(now + maxAge)
  yield* run(expiredSessions, [timestampOf(now), minSeenAt(now)])
  yield* run(newSession, [hashToken(token), person.id, timestampOf(now), expires_at])
  const known_browser = yield* rememberBrowser(statements, person.id, earlierToken)
  const signedIn: SignedIn = { token, person, expires_at, known_browser }
  return signedIn
})

export const findSession = Effect.fn("People.session")(function* ({ all, run }: Statements, token: string) {
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* all(SessionRow, personOfSession, [hashToken(token), timestampOf(now), minSeenAt(now)])
  if (row === undefined) return Option.none<Person>()
  const { seen_at, ...person } = row
  if (Date.parse(seen_at) <= now - seenInterval) {
    yield* run("update console.session set seen_at = $1 where token_sha256 = $2", [timestampOf(now), hashToken(token)])
  }
  return Option.some<Person>(person)
})

export const endSession = ({ run }: Statements, token: string) =>
  run("delete from console.session where token_sha256 = $1 returning person_id", [hashToken(token)])

/** Ends all sessions of the person, and forgets the person's browsers. */
export const endSessionsOf = (statements: Statements, personId: string) =>
  Effect.andThen(
    statements.run("delete from console.session where person_id = $1", [personId]),
    forgetBrowsersOf(statements, personId)
  )
