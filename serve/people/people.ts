/**
 * People who sign in to the console, each for one account: one-time links, passwords and sessions. Tokens are 32 random
 * bytes and passwords are hashed with scrypt; the stored values grant no access. E-mail addresses are stored in lower
 * case and are unique across all accounts.
 */
import { Clock, Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { randomString, timestampOf } from "../ledger/index.ts"
import { parseEmail } from "../mail/index.ts"
import { ConsoleDatabase, logChange, type Statements } from "../persistence/index.ts"
import { makeAttempts } from "./attempts.ts"
import { signFormOwner } from "./form-owner.ts"
import {
  consumeInvitation,
  findInvitation,
  listOpenInvitations,
  withdrawInvitation,
  withdrawResets,
  writeFirstInvitation,
  writeInvitation,
  writeReset
} from "./invitations.ts"
import { describeAccepted, describeOwnChange, ifMade } from "./logged-changes.ts"
import { withinMailLimit } from "./mailed-links.ts"
import { Passwords } from "./password.ts"
import { makePasswordCheck } from "./password-check.ts"
import {
  EmailTaken,
  InvalidEmail,
  InvalidInvitation,
  type Invited,
  type OpenInvitation,
  Person,
  PersonId,
  type SignedIn,
  type SignIns,
  TooManyAttempts,
  UnknownInvitation,
  UnknownPerson,
  WrongCredentials
} from "./person.ts"
import { beginSession, endSession, endSessionsOf, findSession, isKnownBrowser } from "./sessions.ts"
import { hashToken } from "./tokens.ts"

const StoredPerson = Schema.Struct({ ...Person.fields, password: Schema.String })

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
const removePerson = `delete from console.person where id = $1 returning ${columns}`
const recordRemoved = `
  insert into console.removed_person (id, account_id, email, removed_at) values ($1, $2, $3, $4)`

const isEmpty = ({ all }: Statements) =>
  Effect.map(all(PersonId, "select id from console.person limit 1"), (people) => people.length === 0)

/** Sets the password of the person that a link is for, and ends the sessions. Creates the person if it names none. */
const savePassword = Effect.fnUntraced(function* (
  statements: Statements,
  { account_id, is_operator, person_id }: OpenInvitation,
  email: string,
  hash: string
) {
  const { all, run } = statements
  if (person_id !== null) {
    const [person] = yield* all(Person, setPassword, [hash, person_id])
    if (person === undefined) return yield* new InvalidInvitation() // removed in the meantime
    yield* endSessionsOf(statements, person_id)
    return person
  }
  const person: Person = { id: `pers_${randomString(20)}`, account_id, email, is_operator }
  const now = timestampOf(yield* Clock.currentTimeMillis)
  const written = yield* run(newPerson, [person.id, account_id, email, hash, is_operator, now])
  if (written === 0) return yield* new EmailTaken() // the transaction rolls back, so the invitation stays valid
  return person
})

const isEmailTaken = (exit: Exit.Exit<unknown, { readonly _tag: string }>) =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "EmailTaken")

interface Credentials extends Readonly<Record<"email" | "password" | "address", string>> {
  readonly known_browser?: string | undefined
}

const make = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  const passwords = yield* Passwords
  const attempts = makeAttempts()
  const checkPassword = makePasswordCheck(passwords)
  const signIns = { signed_in: 0, refused: 0, put_off: 0 }
  const count = (outcome: keyof typeof signIns) => Effect.sync(() => signIns[outcome]++)
  const logSignIn = ({ person }: SignedIn) => Effect.annotateLogs(Effect.logInfo("signed in"), { person_id: person.id })

  const findPerson = (query: string, value: string) =>
    Effect.map(database.all(StoredPerson, query, [value]), ([person]) => person)

  /** Checks only at the end whether the address is taken: a caller that tries a free address uses up the link. */
  const join = Effect.fnUntraced(function* (token: string, email: string, password: string) {
    const hash = yield* passwords.hashNew(password, email) // slow: before the transaction, which blocks others
    return yield* database.transaction(
      Effect.fnUntraced(function* (statements) {
        const invitation = yield* consumeInvitation(statements, token)
        if (invitation === undefined) return yield* new InvalidInvitation()
        return yield* beginSession(statements, yield* savePassword(statements, invitation, email, hash))
      })
    )
  })

  return {
    /**
     * Creates a link that is valid for seven days and works once. It replaces the account's earlier links for the same
     * e-mail address. The caller has to check that the account exists.
     */
    invite: Effect.fn("People.invite")(function* (invited: Invited) {
      const email = invited.email === null ? null : parseEmail(invited.email)
      if (email === undefined) return yield* new InvalidEmail()
      if (email !== null && (yield* findPerson(personOfEmail, email)) !== undefined) {
        return yield* new EmailTaken()
      }
      return yield* database.transaction((statements) => writeInvitation(statements, { ...invited, email }))
    }),
    /**
     * Creates a link for the first person, an operator; none if a person can already sign in. Each start prints such a
     * link, and it stays in terminals and logs. So it replaces the earlier ones, and stops working once a person can
     * sign in.
     */
    inviteFirst: Effect.fn("People.inviteFirst")(function* (accountId: string) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          if (!(yield* isEmpty(statements))) return Option.none()
          return Option.some(yield* writeFirstInvitation(statements, accountId))
        })
      )
    }),
    /** Finds a valid link, without using it up. */
    invitation: (token: string) => findInvitation(database, token),
    /** Lists the valid links of an account. */
    invitations: (accountId: string) => listOpenInvitations(database, accountId),
    withdraw: Effect.fn("People.withdraw")(function* (invitationId: string) {
      const withdrawn = yield* withdrawInvitation(database, invitationId)
      return withdrawn ?? (yield* new UnknownInvitation({ id: invitationId }))
    }),
    /**
     * For a forgotten password: ends the person's sessions, makes the old password useless, and creates a link for
     * choosing a new one, valid for an hour. Earlier links of this kind stop working.
     */
    reset: Effect.fn("People.reset")(function* (personId: string) {
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
    /** The person who signs in with this address, as `parseEmail` returns it. */
    withEmail: (email: string) => Effect.map(database.all(Person, personOfEmail, [email]), ([person]) => person),
    /**
     * Creates a link for choosing a new password, valid for an hour, for a person who has requested it. Until it is used,
     * the old password and all sessions stay valid.
     */
    resetOnRequest: (person: Person) => database.transaction((statements) => writeReset(statements, person)),
    /** Does `work`, which mails a link to the address. Returns whether it did: at most three a day go to one address. */
    withinMailLimit: <A, E, R>(email: string, work: Effect.Effect<A, E, R>) => withinMailLimit(database, email, work),
    /**
     * Uses up the link, and those for the first person or for the same person. `email` is used only if the invitation has none. After a few
     * addresses that are taken, further attempts with the link have to wait.
     */
    accept: Effect.fn("People.accept")(
      function* ({ email: typed, password, token }: Readonly<Record<"token" | "email" | "password", string>>) {
        const invitation = yield* findInvitation(database, token)
        if (Option.isNone(invitation)) return yield* new InvalidInvitation()
        const email = invitation.value.email ?? parseEmail(typed)
        if (email === undefined) return yield* new InvalidEmail()
        const attempt = attempts.beginKnown(`link ${invitation.value.id}`, yield* Clock.currentTimeMillis)
        if (attempt instanceof TooManyAttempts) return yield* attempt
        const event = invitation.value.person_id === null ? "person joined" : "password changed"
        return yield* logChange(join(token, email, password), event, describeAccepted(invitation.value)).pipe(
          // the response reveals that an address is taken, and the link stays valid: this attempt counts as failed
          Effect.onExit((exit) =>
            isEmailTaken(exit) ? Effect.void : Effect.map(Clock.currentTimeMillis, attempt.withdraw)
          )
        )
      },
      Effect.tap(() => count("signed_in"))
    ),
    /**
     * `address` is the caller's network address. Failures for an e-mail or an address make later attempts wait. Failures
     * in a browser that the person has signed in with count only for that browser. `known_browser` is its token, if any.
     */
    signIn: Effect.fn("People.signIn")(
      function* ({ address, email: typed, known_browser, password }: Credentials) {
        const email = parseEmail(typed)
        const isKnown =
          email !== undefined && known_browser !== undefined && (yield* isKnownBrowser(database, known_browser, email))
        const { password: hash, ...person } = yield* checkPassword(
          {
            action: "sign-in",
            password,
            trust: isKnown ? "known" : "stranger",
            caller: address,
            begin: (now) =>
              isKnown
                ? attempts.beginKnown(`browser ${hashToken(known_browser)}`, now)
                : attempts.beginUnknown(email ?? typed.slice(0, 254), address, now)
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
      Effect.tap((signedIn) => Effect.andThen(count("signed_in"), logSignIn(signedIn))),
      Effect.tapErrorTag("WrongCredentials", () => count("refused")),
      Effect.tapErrorTag("TooManyAttempts", () => count("put_off"))
    ),
    /** Finds the signed-in person. A session lasts at most seven days, and ends after twelve hours without activity. */
    session: (token: string) => findSession(database, token),
    /** The value that the forms of this person's pages contain, and that no other person or account has. */
    formOwner: (person: Person) => signFormOwner(database, person),
    signOut: (token: string) => Effect.asVoid(endSession(database, token)),
    /** Ends every session of the person, even the current one, which may have been copied, and links. A new session begins. */
    changePassword: Effect.fn("People.changePassword")(
      function* ({ current, next, person_id }: Readonly<Record<"person_id" | "current" | "next", string>>) {
        const begin = (now: number) => attempts.beginKnown(`person ${person_id}`, now)
        const { password: old, ...person } = yield* checkPassword(
          { action: "change of the password", password: current, trust: "known", begin },
          findPerson(personOfId, person_id)
        )
        const hash = yield* passwords.hashNew(next, person.email)
        return yield* database.transaction(
          Effect.fnUntraced(function* (statements) {
            yield* withdrawResets(statements, person_id)
            const written = yield* statements.run(replacePassword, [hash, person_id, old])
            if (written === 0) return yield* new WrongCredentials()
            yield* endSessionsOf(statements, person_id)
            return yield* beginSession(statements, person)
          })
        )
      },
      (change) => logChange(change, "password changed", describeOwnChange)
    ),
    /** Ends every session of the person, and begins a new one. None if the session of `token` has already ended. */
    signOutElsewhere: Effect.fn("People.signOutElsewhere")(
      function* ({ person, token }: Pick<SignedIn, "person" | "token">) {
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
      (change) => logChange(change, "signed out elsewhere", ifMade(describeOwnChange))
    ),
    /** Ordered by e-mail. */
    people: (accountId: string) => database.all(Person, peopleOfAccount, [accountId]),
    /** Of all accounts. */
    all: database.background.all(Person, `select ${columns} from console.person order by account_id, id`),
    /** Also ends the person's sessions and links. */
    remove: Effect.fn("People.remove")(function* (personId: string) {
      return yield* database.transaction(
        Effect.fnUntraced(function* (statements) {
          yield* withdrawResets(statements, personId)
          const [removed] = yield* statements.all(Person, removePerson, [personId])
          if (removed === undefined) return yield* new UnknownPerson({ id: personId })
          yield* endSessionsOf(statements, personId)
          const now = timestampOf(yield* Clock.currentTimeMillis)
          yield* statements.run(recordRemoved, [removed.id, removed.account_id, removed.email, now])
          return removed
        })
      )
    }),
    /** Whether no person can sign in yet. */
    isEmpty: isEmpty(database),
    signIns: (): SignIns => ({ ...signIns })
  }
})

export class People extends Context.Service<People, Effect.Success<typeof make>>()("larder/serve/People") {
  static readonly layerNoDeps = Layer.effect(People, make)
  static readonly layer = People.layerNoDeps.pipe(Layer.provide(Passwords.layer))
}
