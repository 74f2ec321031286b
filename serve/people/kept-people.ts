/** The service `People`, over the tables of the console. */
import { Clock, Effect, Exit, Layer, Option, Schema } from "effect"
import { randomText, timestampOf } from "../ledger/index.ts"
import { ConsoleDatabase, type Statements } from "../persistence/index.ts"
import { makeAttempts } from "./attempts.ts"
import { parseEmail } from "./email.ts"
import {
  consumeInvitation,
  findInvitation,
  openInvitations,
  withdrawInvitation,
  withdrawResets,
  writeFirstInvitation,
  writeInvitation,
  writeReset
} from "./invitations.ts"
import { isKnownBrowser } from "./known-browsers.ts"
import { Passwords } from "./password.ts"
import { makePasswordCheck } from "./password-check.ts"
import {
  EmailTaken,
  InvalidEmail,
  InvitationGone,
  type OpenInvitation,
  People,
  Person,
  type SignedIn,
  TooManyAttempts,
  UnknownInvitation,
  UnknownPerson,
  WrongCredentials
} from "./people.ts"
import { beginSession, endSession, endSessionsOf, findSession } from "./sessions.ts"
import { hashToken } from "./tokens.ts"

const StoredPerson = Schema.Struct({ ...Person.fields, password: Schema.String })
const Id = Schema.Struct({ id: Schema.String })

const columns = "id, account_id, email, is_operator"
const personOfEmail = `select ${columns}, password from console.person where email = $1`
const personOfId = `select ${columns}, password from console.person where id = $1`
const peopleOfAccount = `select ${columns} from console.person where account_id = $1 order by email`
const newPerson = `
  insert into console.person (id, account_id, email, password, is_operator, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (email) do nothing
  returning id`
/**
 * Of two concurrent changes, only one finds the password that it expects. A sign-in replaces the password with itself,
 * so that no session begins concurrently with a change of the password or a removal.
 */
const replacePassword = "update console.person set password = $1 where id = $2 and password = $3 returning id"
/** Blocks changes of the password until the transaction ends. */
const lockPerson = "update console.person set email = email where id = $1 returning id"
const setPassword = `update console.person set password = $1 where id = $2 returning ${columns}`
const removePerson = `
  delete from console.person where id = $1 and (cast($2 as text) is null or account_id = $2) returning ${columns}`
const recordRemoved = `
  insert into console.removed_person (id, account_id, email, removed_at) values ($1, $2, $3, $4)`

const isEmpty = ({ all }: Statements) =>
  Effect.map(all(Id, "select id from console.person limit 1"), (rows) => rows.length === 0)

/** Sets the password of the person that a link is for. Creates the person if the link names none. */
const savePassword = Effect.fnUntraced(function* (
  { all, run }: Statements,
  { account_id, is_operator, person_id }: OpenInvitation,
  email: string,
  hash: string
) {
  if (person_id !== null) {
    const [person] = yield* all(Person, setPassword, [hash, person_id])
    return person ?? (yield* new InvitationGone()) // the person was removed in the meantime
  }
  const person: Person = { id: `pers_${randomText(20)}`, account_id, email, is_operator }
  const now = timestampOf(yield* Clock.currentTimeMillis)
  const written = yield* run(newPerson, [person.id, account_id, email, hash, is_operator, now])
  if (written === 0) return yield* new EmailTaken() // the transaction rolls back, so the invitation stays valid
  return person
})

const isEmailTaken = (exit: Exit.Exit<unknown, { readonly _tag: string }>) =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "EmailTaken")

const make = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  const passwords = yield* Passwords
  const attempts = makeAttempts()
  const checkPassword = makePasswordCheck(passwords)
  const signIns = { signed_in: 0, refused: 0, put_off: 0 }
  const count = (outcome: keyof typeof signIns) => Effect.sync(() => signIns[outcome]++)
  const logPerson = (message: string, { person }: SignedIn) =>
    Effect.annotateLogs(Effect.logInfo(message), { person_id: person.id })

  const findPerson = (query: string, value: string) =>
    Effect.map(database.all(StoredPerson, query, [value]), ([person]) => person)
  const isTaken = (email: string) => Effect.map(findPerson(personOfEmail, email), (person) => person !== undefined)

  /** The address in the invitation, otherwise the typed one. */
  const chooseEmail = ({ email }: OpenInvitation, typed: string) => {
    const chosen = email ?? parseEmail(typed)
    return chosen === undefined ? Effect.fail(new InvalidEmail()) : Effect.succeed(chosen)
  }

  /** Reports that an address is taken only as the last step: a free address would have used up the link. */
  const join = Effect.fnUntraced(function* (token: string, email: string, password: string) {
    const hash = yield* passwords.hashNew(password, email) // slow: before the transaction, which blocks others
    return yield* database.transaction(
      Effect.fnUntraced(function* (statements) {
        const invitation = yield* consumeInvitation(statements, token)
        if (Option.isNone(invitation)) return yield* new InvitationGone()
        return yield* beginSession(statements, yield* savePassword(statements, invitation.value, email, hash))
      })
    )
  })

  return People.of({
    invite: Effect.fn("People.invite")(function* (invited) {
      const email = invited.email === null ? null : parseEmail(invited.email)
      if (email === undefined) return yield* new InvalidEmail()
      if (email !== null && (yield* isTaken(email))) return yield* new EmailTaken()
      return yield* database.transaction((statements) => writeInvitation(statements, { ...invited, email }))
    }),
    inviteFirst: Effect.fn("People.inviteFirst")(function* (accountId) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          if (!(yield* isEmpty(statements))) return Option.none()
          return Option.some(yield* writeFirstInvitation(statements, accountId))
        })
      )
    }),
    invitation: (token) => findInvitation(database, token),
    invitations: (accountId) => openInvitations(database, accountId),
    withdraw: Effect.fn("People.withdraw")(function* (invitationId) {
      const withdrawn = yield* withdrawInvitation(database, invitationId)
      return Option.isSome(withdrawn) ? withdrawn.value : yield* new UnknownInvitation({ id: invitationId })
    }),
    reset: Effect.fn("People.reset")(function* (personId) {
      const hash = yield* passwords.unmatchableHash
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          yield* withdrawResets(statements, personId)
          const [person] = yield* statements.all(Person, setPassword, [hash, personId])
          if (person === undefined) return yield* new UnknownPerson({ id: personId })
          yield* endSessionsOf(statements, personId)
          return yield* writeReset(statements, person)
        })
      )
    }),
    accept: Effect.fn("People.accept")(
      function* ({ email: typed, password, token }) {
        const invitation = yield* findInvitation(database, token)
        if (Option.isNone(invitation)) return yield* new InvitationGone()
        const email = yield* chooseEmail(invitation.value, typed)
        const attempt = attempts.beginKnown(`link ${invitation.value.id}`, yield* Clock.currentTimeMillis)
        if (attempt instanceof TooManyAttempts) return yield* attempt
        return yield* join(token, email, password).pipe(
          // the caller learns that an address is taken while the link stays valid, so this attempt counts as failed
          Effect.onExit((exit) =>
            isEmailTaken(exit) ? Effect.void : Effect.map(Clock.currentTimeMillis, attempt.withdrawn)
          )
        )
      },
      Effect.tap((signedIn) => Effect.andThen(count("signed_in"), logPerson("signed in by a one-time link", signedIn)))
    ),
    signIn: Effect.fn("People.signIn")(
      function* ({ address, email: typed, known_browser, password }) {
        const email = parseEmail(typed)
        const isKnown =
          email !== undefined && known_browser !== undefined && (yield* isKnownBrowser(database, known_browser, email))
        const { password: hash, ...person } = yield* checkPassword(
          {
            what: "sign-in",
            password,
            trust: isKnown ? "known" : "stranger",
            caller: address,
            begin: (now) =>
              isKnown
                ? attempts.beginKnown(`browser ${hashToken(known_browser)}`, now)
                : attempts.beginStranger(email ?? typed.slice(0, 254), address, now)
          },
          email === undefined ? Effect.undefined : findPerson(personOfEmail, email)
        )
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            const written = yield* statements.run(replacePassword, [hash, person.id, hash])
            if (written === 0) return yield* new WrongCredentials() // changed or removed in the meantime
            return yield* beginSession(statements, person, known_browser)
          })
        )
      },
      Effect.tap((signedIn) => Effect.andThen(count("signed_in"), logPerson("signed in", signedIn))),
      Effect.tapErrorTag("WrongCredentials", () => count("refused")),
      Effect.tapErrorTag("TooManyAttempts", () => count("put_off"))
    ),
    session: (token) => findSession(database, token),
    signOut: (token) => Effect.asVoid(endSession(database, token)),
    changePassword: Effect.fn("People.changePassword")(
      function* ({ current, next, person_id }) {
        const begin = (now: number) => attempts.beginKnown(`person ${person_id}`, now)
        const { password: old, ...person } = yield* checkPassword(
          { what: "change of the password", password: current, trust: "known", begin },
          findPerson(personOfId, person_id)
        )
        const hash = yield* passwords.hashNew(next, person.email)
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            const written = yield* statements.run(replacePassword, [hash, person_id, old])
            if (written === 0) return yield* new WrongCredentials()
            yield* endSessionsOf(statements, person_id)
            return yield* beginSession(statements, person)
          })
        )
      },
      Effect.tap((signedIn) => logPerson("password changed; all other sessions ended", signedIn))
    ),
    signOutElsewhere: Effect.fn("People.signOutElsewhere")(
      function* ({ person, token }) {
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            yield* statements.run(lockPerson, [person.id])
            // if a change of the password has just ended this session, no new one may begin
            if ((yield* endSession(statements, token)) === 0) return Option.none()
            yield* endSessionsOf(statements, person.id)
            return Option.some(yield* beginSession(statements, person))
          })
        )
      },
      Effect.tap((signedIn) =>
        Option.isSome(signedIn) ? logPerson("signed out everywhere else", signedIn.value) : Effect.void
      )
    ),
    people: (accountId) => database.all(Person, peopleOfAccount, [accountId]),
    remove: Effect.fn("People.remove")(function* ({ account_id = null, person_id }) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          yield* withdrawResets(statements, person_id)
          const [removed] = yield* statements.all(Person, removePerson, [person_id, account_id])
          if (removed === undefined) return yield* new UnknownPerson({ id: person_id })
          yield* endSessionsOf(statements, person_id)
          const now = timestampOf(yield* Clock.currentTimeMillis)
          yield* statements.run(recordRemoved, [removed.id, removed.account_id, removed.email, now])
          return removed
        })
      )
    }),
    isEmpty: isEmpty(database),
    signIns: () => ({ ...signIns })
  })
})

export const layerPeopleNoDeps = Layer.effect(People, make)

export const layerPeople = layerPeopleNoDeps.pipe(Layer.provide(Passwords.layer))
