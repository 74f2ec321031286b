/** People in the console's tables. */
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { randomText } from "../access/random-text.ts"
import { ConsoleDatabase, type ConsoleUnavailable } from "../console-database/console-database.ts"
import { timestampOf } from "../ledger/moments.ts"
import { makeAttempts } from "./attempts.ts"
import { emailIn } from "./email.ts"
import { findInvitation, takeInvitation, writeFirstInvitation, writeInvitation } from "./invitations.ts"
import { Passwords } from "./password.ts"
import {
  EmailTaken,
  InvalidEmail,
  InvitationGone,
  type Invited,
  People,
  Person,
  TooManyAttempts,
  UnknownPerson,
  WrongCredentials
} from "./people.ts"
import { beginSession, endOtherSessions, endSession, endSessionsOf, personSignedIn } from "./sessions.ts"

const Known = Schema.Struct({ ...Person.fields, password: Schema.String })
type Known = typeof Known.Type
const Id = Schema.Struct({ id: Schema.String })

const columns = "id, account_id, email, is_operator"
const ofEmail = `select ${columns}, password from console.person where email = $1`
const ofId = `select ${columns}, password from console.person where id = $1`
const ofAccount = `select ${columns} from console.person where account_id = $1 order by email`
const newPerson = `
  insert into console.person (id, account_id, email, password, is_operator, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (email) do nothing
  returning id`
/**
 * Of two that change it at once, one finds the password that it knew. A sign-in replaces it by itself, so that none begins
 * beside a change or a removal.
 */
const replacePassword = "update console.person set password = $1 where id = $2 and password = $3 returning id"
const removePerson = `
  delete from console.person where id = $1 and ($2::text is null or account_id = $2) returning ${columns}`

const make = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  const passwords = yield* Passwords
  const attempts = makeAttempts()

  const known = (query: string, value: string) => Effect.map(database.all(Known, query, [value]), ([found]) => found)
  const isEmpty = Effect.map(database.all(Id, "select id from console.person limit 1"), (found) => found.length === 0)
  const isTaken = (email: string) => Effect.map(known(ofEmail, email), (found) => found !== undefined)

  /** Whoever somebody claims to be, where the password is right. `email` is what the failures are counted by. */
  const judged = Effect.fnUntraced(function* (
    { address, email, password }: { readonly email: string; readonly address?: string; readonly password: string },
    look: Effect.Effect<Known | undefined, ConsoleUnavailable>
  ) {
    const attempt = attempts.begin(email, address, yield* Clock.currentTimeMillis)
    if (attempt instanceof TooManyAttempts) return yield* attempt
    const found = yield* look.pipe(
      Effect.flatMap((known) =>
        Effect.map(passwords.isRight(password, known?.password), (isRight) => (isRight ? known : undefined))
      ),
      Effect.onError(() => Effect.map(Clock.currentTimeMillis, attempt.withdrawn))
    )
    if (found === undefined) return yield* new WrongCredentials()
    attempt.succeeded(yield* Clock.currentTimeMillis)
    return found
  })

  /** The address that the person will have: what the invitation says, else what was typed. */
  const addressFor = ({ email }: Invited, typed: string) => {
    const address = email ?? emailIn(typed)
    return address === undefined ? Effect.fail(new InvalidEmail()) : Effect.succeed(address)
  }

  return People.of({
    invite: Effect.fn("People.invite")(function* (invited) {
      const email = invited.email === null ? null : emailIn(invited.email)
      if (email === undefined) return yield* new InvalidEmail()
      if (email !== null && (yield* isTaken(email))) return yield* new EmailTaken()
      return yield* database.transaction((statements) => writeInvitation(statements, { ...invited, email }))
    }),
    inviteFirst: Effect.fn("People.inviteFirst")(function* (accountId) {
      if (!(yield* isEmpty)) return Option.none()
      return Option.some(yield* database.transaction((statements) => writeFirstInvitation(statements, accountId)))
    }),
    invitation: (token) => findInvitation(database, token),
    accept: Effect.fn("People.accept")(function* ({ email: typed, password, token }) {
      const invitation = yield* findInvitation(database, token)
      if (Option.isNone(invitation)) return yield* new InvitationGone()
      const email = yield* addressFor(invitation.value, typed)
      if (yield* isTaken(email)) return yield* new EmailTaken()
      const kept = yield* passwords.keep(password, email) // slow: before the transaction, which others wait for
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          const taken = yield* takeInvitation(statements, token)
          if (Option.isNone(taken)) return yield* new InvitationGone()
          const { account_id, is_operator } = taken.value
          const person: Person = { id: `pers_${randomText(20)}`, account_id, email, is_operator }
          const now = timestampOf(yield* Clock.currentTimeMillis)
          const written = yield* statements.run(newPerson, [person.id, account_id, email, kept, is_operator, now])
          if (written === 0) return yield* new EmailTaken() // and the invitation is as good as before
          return yield* beginSession(statements, person)
        })
      )
    }),
    signIn: Effect.fn("People.signIn")(function* ({ address, email: typed, password }) {
      const email = emailIn(typed)
      const look = email === undefined ? Effect.undefined : known(ofEmail, email)
      const { password: kept, ...person } = yield* judged(
        { email: email ?? typed.slice(0, 254), address, password },
        look
      )
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          const written = yield* statements.run(replacePassword, [kept, person.id, kept])
          if (written === 0) return yield* new WrongCredentials() // changed or removed meanwhile
          return yield* beginSession(statements, person)
        })
      )
    }),
    session: (token) => personSignedIn(database, token),
    signOut: (token) => endSession(database, token),
    changePassword: Effect.fn("People.changePassword")(function* ({ current, next, person_id, token }) {
      const found = yield* known(ofId, person_id)
      if (found === undefined) return yield* new WrongCredentials()
      yield* judged({ email: found.email, password: current }, Effect.succeed(found))
      const kept = yield* passwords.keep(next, found.email)
      yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          const written = yield* statements.run(replacePassword, [kept, person_id, found.password])
          if (written === 0) return yield* new WrongCredentials()
          yield* endOtherSessions(statements, person_id, token)
        })
      )
    }),
    people: (accountId) => database.all(Person, ofAccount, [accountId]),
    remove: Effect.fn("People.remove")(function* ({ account_id = null, person_id }) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          const [removed] = yield* statements.all(Person, removePerson, [person_id, account_id])
          if (removed === undefined) return yield* new UnknownPerson({ id: person_id })
          yield* endSessionsOf(statements, person_id)
          return removed
        })
      )
    }),
    isEmpty
  })
})

export const layerPeopleNoDeps = Layer.effect(People, make)

/** Over the console's tables, wherever they are kept. */
export const layerPeople = layerPeopleNoDeps.pipe(Layer.provide(Passwords.layer))
