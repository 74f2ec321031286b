/**
 * One-time links to create a login, or to choose a new password. The row of a used link is kept until the link's
 * expiry. In a transaction, statements about links come first, so a link is always locked before its person.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { timestampOf } from "../ledger/index.ts"
import type { Statements } from "../persistence/index.ts"
import { type Invited, type NewInvitation, OpenInvitation, type Person } from "./person.ts"
import { hashToken, newToken } from "./tokens.ts"

const validMs = 7 * 24 * 60 * 60_000
/** For a new password: who opens such a link gets an existing login, so it must not stay in terminals and mailboxes. */
const resetValidMs = 60 * 60_000

/** Derived from the hash of the token. It grants no access. */
const publicId = "'inv_' || substr(token_sha256, 1, 20)"
const columns = `${publicId} as id, account_id, email, is_operator, person_id, expires_at`
const isOpen = `
  used_at is null and expires_at > $1
  and (not is_first or not exists (select 1 from console.person))`

const newInvitation = `
  insert into console.invitation
    (token_sha256, account_id, email, is_operator, person_id, is_first, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  returning ${columns}`
const invitationOfToken = `select ${columns} from console.invitation where ${isOpen} and token_sha256 = $2`
const invitationsOfAccount = `
  select ${columns} from console.invitation where ${isOpen} and account_id = $2 order by expires_at, id`
const deleteInvitation = `delete from console.invitation where ${isOpen} and ${publicId} = $2 returning ${columns}`
/**
 * Using any link also uses up the links for the first person, and using a link for a new password the others of the same
 * person. If two of these, or the same link twice, are used at the same time, only one succeeds.
 */
const markUsed = `
  update console.invitation set used_at = $1
  where ${isOpen} and (
    is_first or token_sha256 = $2
    or person_id in (
      select person_id from console.invitation where token_sha256 = $2 and used_at is null and expires_at > $1))
  returning ${columns}, token_sha256`

const currentTime = Effect.map(Clock.currentTimeMillis, timestampOf)

const insertInvitation = Effect.fn("People.insertInvitation")(function* (
  { all, run }: Statements,
  {
    account_id,
    email,
    is_first = false,
    is_operator,
    person_id = null
  }: Invited & { readonly is_first?: boolean; readonly person_id?: string | null },
  validFor = validMs
) {
  const now = yield* Clock.currentTimeMillis
  const token = yield* newToken
  yield* run("delete from console.invitation where expires_at <= $1", [timestampOf(now)])
  const [row] = yield* all(OpenInvitation, newInvitation, [
    ...[hashToken(token), account_id, email, is_operator, person_id, is_first],
    ...[timestampOf(now), timestampOf(now + validFor)]
  ])
  if (row === undefined) return yield* Effect.die(new Error("an invitation was not stored"))
  return { ...row, token } satisfies NewInvitation
})

/** Replaces the open links for the same e-mail address of the account. */
export const writeInvitation = (statements: Statements, invited: Invited) =>
  Effect.andThen(
    statements.run("delete from console.invitation where account_id = $1 and email = $2 and used_at is null", [
      invited.account_id,
      invited.email
    ]),
    insertInvitation(statements, invited)
  )

/** Replaces the earlier links for the first person. */
export const writeFirstInvitation = (statements: Statements, account_id: string) =>
  Effect.andThen(
    statements.run("delete from console.invitation where is_first and used_at is null"),
    insertInvitation(statements, { account_id, email: null, is_operator: true, is_first: true })
  )

/** A link for choosing a new password, valid for an hour. Earlier ones stay valid. */
export const writeReset = (statements: Statements, { id, ...person }: Person) =>
  insertInvitation(statements, { ...person, person_id: id }, resetValidMs)

export const withdrawResets = ({ run }: Statements, personId: string) =>
  run("delete from console.invitation where person_id = $1 and used_at is null", [personId])

export const findInvitation = Effect.fn("People.invitation")(function* ({ all }: Statements, token: string) {
  const [invitation] = yield* all(OpenInvitation, invitationOfToken, [yield* currentTime, hashToken(token)])
  return Option.fromUndefinedOr(invitation)
})

export const listOpenInvitations = Effect.fn("People.invitations")(function* ({ all }: Statements, accountId: string) {
  return yield* all(OpenInvitation, invitationsOfAccount, [yield* currentTime, accountId])
})

export const withdrawInvitation = Effect.fn("People.withdraw")(function* ({ all }: Statements, invitationId: string) {
  const [withdrawn] = yield* all(OpenInvitation, deleteInvitation, [yield* currentTime, invitationId])
  return withdrawn
})

const Used = Schema.Struct({ ...OpenInvitation.fields, token_sha256: Schema.String })

export const consumeInvitation = Effect.fn("People.consumeInvitation")(function* ({ all }: Statements, token: string) {
  const hash = hashToken(token)
  const used = yield* all(Used, markUsed, [yield* currentTime, hash])
  return used.find(({ token_sha256 }) => token_sha256 === hash)
})
