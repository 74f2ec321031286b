/** Stores people in the console's tables. */
import { Clock, Effect, Exit, Layer, Option, Schema } from "effect"
import { randomText, timestampOf } from "../ledger/index.ts"
import { ConsoleDatabase, type Statements } from "../persistence/index.ts"
import { makeAttempts } from "./attempts.ts"
import { parseEmail } from "./email.ts"
import {
  findInvitation,
  openInvitations,
  takeInvitation,
  withdrawInvitation,
  withdrawResets,
  writeFirstInvitation,
  writeInvitation,
  writeReset
} from "./invitations.ts"
import { makePasswordCheck } from "./judge.ts"
import { isKnownBrowser } from "./known-browsers.ts"
import { Passwords } from "./password.ts"
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

const Known = Schema.Struct({ ...Person.fields, password: Schema.String })
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
 * Of two concurrent changes, only one finds the password that it expects. A sign-in replaces the password with itself,
 * so that no session begins concurrently with a change of the password or a removal.
 */
const replacePassword = "update console.person set password = $1 where id = $2 and password = $3 returning id"
/** Blocks changes of this person's password until the transaction ends. */
const lockPerson = "update console.person set email = email where id = $1 returning id"
const setPassword = `update console.person set password = $1 where id = $2 returning ${columns}`
const removePerson = `
  delete from console.person where id = $1 and (cast($2 as text) is null or account_id = $2) returning ${columns}`
const keepRemoved = `
  insert into console.removed_person (id, account_id, email, removed_at) values ($1, $2, $3, $4)`

const isNobodyIn = ({ all }: Statements) =>
  Effect.map(all(Id, "select id from console.person limit 1"), (found) => found.length === 0)

/** Sets the password of the person that a link is for. Creates the person if the link names none. */
const entered = Effect.fnUntraced(function* (
  { all, run }: Statements,
  { account_id, is_operator, person_id }: OpenInvitation,
  { email, kept }: { readonly email: string; readonly kept: string }
) {
  if (person_id !== null) {
    const [found] = yield* all(Person, setPassword, [kept, person_id])
    return found ?? (yield* new InvitationGone()) // the person was removed meanwhile
  }
  const person: Person = { id: `pers_${randomText(20)}`, account_id, email, is_operator }
  const now = timestampOf(yield* Clock.currentTimeMillis)
  const written = yield* run(newPerson, [person.id, account_id, email, kept, is_operator, now])
  if (written === 0) return yield* new EmailTaken() // the transaction rolls back, so the invitation stays valid
  return person
})

const saysTaken = (exit: Exit.Exit<unknown, { readonly _tag: string }>) =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "EmailTaken")

const make = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  const passwords = yield* Passwords
  const attempts = makeAttempts()
  const judged = makePasswordCheck(passwords)
  const signIns = { signed_in: 0, refused: 0, put_off: 0 }
  const count = (outcome: keyof typeof signIns) => Effect.sync(() => signIns[outcome]++)
  const noted = (message: string, { person }: SignedIn) =>
    Effect.annotateLogs(Effect.logInfo(message), { person_id: person.id })

  const known = (query: string, value: string) => Effect.map(database.all(Known, query, [value]), ([found]) => found)
  const isTaken = (email: string) => Effect.map(known(ofEmail, email), (found) => found !== undefined)

  /** The address that the person will have: the one in the invitation, otherwise the typed one. */
  const addressFor = ({ email }: OpenInvitation, typed: string) => {
    const address = email ?? parseEmail(typed)
    return address === undefined ? Effect.fail(new InvalidEmail()) : Effect.succeed(address)
  }

  /** Tells that an address is taken only as the last step: a free address would have used up the link. */
  const joined = Effect.fnUntraced(function* (token: string, email: string, password: string) {
    const kept = yield* passwords.hashNew(password, email) // slow: before the transaction, which blocks others
    return yield* database.transaction(
      Effect.fnUntraced(function* (statements) {
        const taken = yield* takeInvitation(statements, token)
        if (Option.isNone(taken)) return yield* new InvitationGone()
        return yield* beginSession(statements, yield* entered(statements, taken.value, { email, kept }))
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
          if (!(yield* isNobodyIn(statements))) return Option.none()
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
        const email = yield* addressFor(invitation.value, typed)
        const attempt = attempts.beginKnown(`link ${invitation.value.id}`, yield* Clock.currentTimeMillis)
        if (attempt instanceof TooManyAttempts) return yield* attempt
        return yield* joined(token, email, password).pipe(
          // the caller learns that an address is taken while the link stays valid, so this attempt counts as failed
          Effect.onExit((exit) =>
            saysTaken(exit) ? Effect.void : Effect.map(Clock.currentTimeMillis, attempt.withdrawn)
          )
        )
      },
      Effect.tap((signedIn) => Effect.andThen(count("signed_in"), noted("signed in by a one-time link", signedIn)))
    ),
    signIn: Effect.fn("People.signIn")(
      function* ({ address, email: typed, known_browser, password }) {
        const email = parseEmail(typed)
        const isKnown =
          email !== undefined && known_browser !== undefined && (yield* isKnownBrowser(database, known_browser, email))
        const { password: kept, ...person } = yield* judged(
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
          email === undefined ? Effect.undefined : known(ofEmail, email)
        )
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            const written = yield* statements.run(replacePassword, [kept, person.id, kept])
            if (written === 0) return yield* new WrongCredentials() // changed or removed meanwhile
            return yield* beginSession(statements, person, known_browser)
          })
        )
      },
      Effect.tap((signedIn) => Effect.andThen(count("signed_in"), noted("signed in", signedIn))),
      Effect.tapErrorTag("WrongCredentials", () => count("refused")),
      Effect.tapErrorTag("TooManyAttempts", () => count("put_off"))
    ),
    session: (token) => findSession(database, token),
    signOut: (token) => Effect.asVoid(endSession(database, token)),
    changePassword: Effect.fn("People.changePassword")(
      function* ({ current, next, person_id }) {
        const begin = (now: number) => attempts.beginKnown(`person ${person_id}`, now)
        const { password: old, ...person } = yield* judged(
          { what: "change of the password", password: current, trust: "known", begin },
          known(ofId, person_id)
        )
        const kept = yield* passwords.hashNew(next, person.email)
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            const written = yield* statements.run(replacePassword, [kept, person_id, old])
            if (written === 0) return yield* new WrongCredentials()
            yield* endSessionsOf(statements, person_id)
            return yield* beginSession(statements, person)
          })
        )
      },
      Effect.tap((signedIn) => noted("password changed; all other sessions ended", signedIn))
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
      Effect.tap((begun) => (Option.isSome(begun) ? noted("signed out everywhere else", begun.value) : Effect.void))
    ),
    people: (accountId) => database.all(Person, ofAccount, [accountId]),
    remove: Effect.fn("People.remove")(function* ({ account_id = null, person_id }) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          yield* withdrawResets(statements, person_id)
          const [removed] = yield* statements.all(Person, removePerson, [person_id, account_id])
          if (removed === undefined) return yield* new UnknownPerson({ id: person_id })
          yield* endSessionsOf(statements, person_id)
          const now = timestampOf(yield* Clock.currentTimeMillis)
          yield* statements.run(keepRemoved, [removed.id, removed.account_id, removed.email, now])
          return removed
        })
      )
    }),
    isEmpty: isNobodyIn(database),
    signIns: () => ({ ...signIns })
  })
})

export const layerPeopleNoDeps = Layer.effect(People, make)

export const layerPeople = layerPeopleNoDeps.pipe(Layer.provide(Passwords.layer))
