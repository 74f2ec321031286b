/**
 * People who sign in to the console, each for one account: invitations, passwords and sessions. Tokens are 32 random bytes
 * and passwords go through scrypt; what is stored opens nothing. E-mail addresses are kept in lower case and are unique
 * over all accounts. How they are kept: `kept-people.ts`.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ConsoleUnavailable } from "../console-database/console-database.ts"

export const Person = Schema.Struct({
  /** `pers_…`, permanent. */
  id: Schema.String,
  account_id: Schema.String,
  email: Schema.String,
  /** Operators also see the state of the warehouse. */
  is_operator: Schema.Boolean
})
export type Person = typeof Person.Type

/** `token` goes into the cookie and nowhere else. */
export interface SignedIn {
  readonly token: string
  readonly person: Person
  /** ISO text in UTC; the session ends then at the latest. */
  readonly expires_at: string
}

/** A one-time link's token, shown once. */
export interface NewInvitation {
  readonly token: string
  readonly expires_at: string
}

export interface Invited {
  readonly account_id: string
  /** Null where the invited person chooses it. */
  readonly email: string | null
  readonly is_operator: boolean
}

/** Nobody has this address and this password; it is not told which of them is wrong. */
export class WrongCredentials extends Schema.TaggedError<WrongCredentials>()("WrongCredentials", {}) {
  override get message() {
    return "E-mail address or password is wrong."
  }
}

export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {
  /** Whole, at least 1. */
  seconds: Schema.Int
}) {
  override get message() {
    return `Too many attempts. Try again in ${waitOf(this.seconds)}.`
  }
}
const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`
const waitOf = (seconds: number) =>
  seconds < 120 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute")

/** The link was used, has expired, or never existed. */
export class InvitationGone extends Schema.TaggedError<InvitationGone>()("InvitationGone", {}) {
  override get message() {
    return "This invitation was used already, or has expired. Ask for a new one."
  }
}

export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}) {
  override get message() {
    return "Somebody signs in with this e-mail address already."
  }
}

export class InvalidEmail extends Schema.TaggedError<InvalidEmail>()("InvalidEmail", {}) {
  override get message() {
    return "This is no e-mail address."
  }
}

export class WeakPassword extends Schema.TaggedError<WeakPassword>()("WeakPassword", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

export class UnknownPerson extends Schema.TaggedError<UnknownPerson>()("UnknownPerson", { id: Schema.String }) {
  override get message() {
    return `There is no person ${this.id}. List them with: larder-serve people list --account ID`
  }
}

interface Access {
  /** A link that is valid for seven days and once. Whether the account exists is for the caller to know. */
  readonly invite: (invited: Invited) => Effect.Effect<NewInvitation, EmailTaken | InvalidEmail | ConsoleUnavailable>
  /**
   * A link for the first person, an operator; none where somebody can sign in already. The links that it made before are
   * gone then: each start prints one, and they stay in terminals and logs.
   */
  readonly inviteFirst: (accountId: string) => Effect.Effect<Option.Option<NewInvitation>, ConsoleUnavailable>
  /** What a link is for, as long as it is good. Uses nothing up. */
  readonly invitation: (token: string) => Effect.Effect<Option.Option<Invited>, ConsoleUnavailable>
  /** Uses the link up. `email` counts where the invitation names none. */
  readonly accept: (asked: {
    readonly token: string
    readonly email: string
    readonly password: string
  }) => Effect.Effect<
    SignedIn,
    InvitationGone | EmailTaken | InvalidEmail | WeakPassword | TooManyAttempts | ConsoleUnavailable
  >
  /** `address` is the caller's network address. Failures of an e-mail or of an address make the next ones wait. */
  readonly signIn: (asked: {
    readonly email: string
    readonly password: string
    readonly address: string
  }) => Effect.Effect<SignedIn, WrongCredentials | TooManyAttempts | ConsoleUnavailable>
  /** Who is signed in: within seven days, and not away for twelve hours. */
  readonly session: (token: string) => Effect.Effect<Option.Option<Person>, ConsoleUnavailable>
  readonly signOut: (token: string) => Effect.Effect<void, ConsoleUnavailable>
  /** Ends every other session of the person; `token` is the one that stays. */
  readonly changePassword: (asked: {
    readonly person_id: string
    readonly token: string
    readonly current: string
    readonly next: string
  }) => Effect.Effect<void, WrongCredentials | WeakPassword | TooManyAttempts | ConsoleUnavailable>
  /** By e-mail. */
  readonly people: (accountId: string) => Effect.Effect<ReadonlyArray<Person>, ConsoleUnavailable>
  /** Ends the person's sessions, too. With `account_id` a person of another account is unknown. */
  readonly remove: (asked: {
    readonly person_id: string
    readonly account_id?: string
  }) => Effect.Effect<Person, UnknownPerson | ConsoleUnavailable>
  /** Nobody can sign in yet. */
  readonly isEmpty: Effect.Effect<boolean, ConsoleUnavailable>
}

export class People extends Context.Service<People, Access>()("larder/serve/People") {}
