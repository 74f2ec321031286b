/** One-time links with which people get their sign-in. A used one stays until it would have expired. */
import { Clock, Effect, Option, Schema } from "effect"
import type { Statements } from "../console-database/console-database.ts"
import { timestampOf } from "../ledger/moments.ts"
import type { Invited, NewInvitation } from "./people.ts"
import { newToken, sha256Of } from "./tokens.ts"

const validFor = 7 * 24 * 60 * 60_000

const InvitedRow = Schema.Struct({
  account_id: Schema.String,
  email: Schema.NullOr(Schema.String),
  is_operator: Schema.Boolean
})

const newInvitation = `
  insert into console.invitation (token_sha256, account_id, email, is_operator, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6)`
/** Those of the kind that a start prints. */
const withdrawOpen = `
  delete from console.invitation where account_id = $1 and email is null and is_operator and used_at is null`
const goodInvitation = `
  select account_id, email, is_operator from console.invitation
  where token_sha256 = $1 and used_at is null and expires_at > $2`
/** Of two that use the same link at once, one finds it. */
const useInvitation = `
  update console.invitation set used_at = $2
  where token_sha256 = $1 and used_at is null and expires_at > $2
  returning account_id, email, is_operator`

export const writeInvitation = Effect.fn("People.writeInvitation")(function* (
  { run }: Statements,
  { account_id, email, is_operator }: Invited
) {
  const now = yield* Clock.currentTimeMillis
  const token = yield* newToken
  const expires_at = timestampOf(now + validFor)
  yield* run("delete from console.invitation where expires_at <= $1", [timestampOf(now)])
  yield* run(newInvitation, [sha256Of(token), account_id, email, is_operator, timestampOf(now), expires_at])
  const written: NewInvitation = { token, expires_at }
  return written
})

/** Replaces the links for the first person by a new one. */
export const writeFirstInvitation = (statements: Statements, account_id: string) =>
  Effect.andThen(
    statements.run(withdrawOpen, [account_id]),
    writeInvitation(statements, { account_id, email: null, is_operator: true })
  )

export const findInvitation = Effect.fn("People.invitation")(function* ({ all }: Statements, token: string) {
  const now = yield* Clock.currentTimeMillis
  const [found] = yield* all(InvitedRow, goodInvitation, [sha256Of(token), timestampOf(now)])
  return Option.fromUndefinedOr(found)
})

export const takeInvitation = Effect.fn("People.takeInvitation")(function* ({ all }: Statements, token: string) {
  const now = yield* Clock.currentTimeMillis
  const [taken] = yield* all(InvitedRow, useInvitation, [sha256Of(token), timestampOf(now)])
  return Option.fromUndefinedOr(taken)
})
