/**
 * People who sign in to the console, each for one account: one-time links, passwords and sessions. Tokens are 32 random
 * bytes and passwords are hashed with scrypt; the stored values grant no access. E-mail addresses are stored in lower
 * case and are unique across all accounts. The implementation is in `kept-people.ts`.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { ConsoleUnavailable } from "../persistence/index.ts"

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
  /** ISO text in UTC. The session may end earlier. */
  readonly expires_at: string
  /** For a separate cookie, which identifies a browser that the person has signed in with. */
  readonly known_browser: { readonly token: string; readonly expires_at: string }
}

/** Sign-ins since the start, by outcome. */
export interface SignIns {
  readonly signed_in: number
  /** A wrong address or password. */
  readonly refused: number
  /** The password was not checked: too many attempts, or too many at the same time. */
  readonly put_off: number
}

/** A one-time link that is valid now, without the token that opens it. */
export const OpenInvitation = Schema.Struct({
  /** `inv_…` */
  id: Schema.String,
  account_id: Schema.String,
  /** Null if the invited person chooses it. */
  email: Schema.NullOr(Schema.String),
  is_operator: Schema.Boolean,
  /** The person who chooses a new password with it; null if it creates a new person. */
  person_id: Schema.NullOr(Schema.String),
  expires_at: Schema.String
})
export type OpenInvitation = typeof OpenInvitation.Type

/** The token goes into the link and nowhere else. */
export interface NewInvitation extends OpenInvitation {
  readonly token: string
}

export interface Invited {
  readonly account_id: string
  /** Null if the invited person chooses it. */
  readonly email: string | null
  readonly is_operator: boolean
}

/** No person has this address and this password. The message does not say which of them is wrong. */
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
    return `Too many attempts. Try again in ${waitText(this.seconds)}.`
  }
}
const pluralize = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`
const waitText = (seconds: number) =>
  seconds < 120 ? pluralize(seconds, "second") : pluralize(Math.ceil(seconds / 60), "minute")

/** The link was used or withdrawn, has expired, or never existed. */
export class InvitationGone extends Schema.TaggedError<InvitationGone>()("InvitationGone", {}) {
  override get message() {
    return "This link was used already, was withdrawn, or has expired. Ask for a new one."
  }
}

export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}) {
  override get message() {
    return "Someone already signs in with this e-mail address."
  }
}

export class InvalidEmail extends Schema.TaggedError<InvalidEmail>()("InvalidEmail", {}) {
  override get message() {
    return "This is not an e-mail address."
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

export class UnknownInvitation extends Schema.TaggedError<UnknownInvitation>()("UnknownInvitation", {
  id: Schema.String
}) {
  override get message() {
    return `There is no open invitation ${this.id}. List them with: larder-serve people list --account ID`
  }
}

interface Access {
  /**
   * Creates a link that is valid for seven days and works once. It replaces the account's earlier links for the same
   * e-mail address. The caller has to check that the account exists.
   */
  readonly invite: (invited: Invited) => Effect.Effect<NewInvitation, EmailTaken | InvalidEmail | ConsoleUnavailable>
  /**
   * Creates a link for the first person, an operator; none if a person can already sign in. Each start prints such a
   * link, and terminals and logs keep it. So it replaces the earlier ones, and stops working once a person can sign in.
   */
  readonly inviteFirst: (accountId: string) => Effect.Effect<Option.Option<NewInvitation>, ConsoleUnavailable>
  /** Finds a valid link, without using it up. */
  readonly invitation: (token: string) => Effect.Effect<Option.Option<OpenInvitation>, ConsoleUnavailable>
  /** Lists the valid links of an account. */
  readonly invitations: (accountId: string) => Effect.Effect<ReadonlyArray<OpenInvitation>, ConsoleUnavailable>
  readonly withdraw: (invitationId: string) => Effect.Effect<OpenInvitation, UnknownInvitation | ConsoleUnavailable>
  /**
   * For a forgotten password: ends the person's sessions, makes the old password useless, and creates a link for
   * choosing a new one. Earlier links of this kind stop working.
   */
  readonly reset: (personId: string) => Effect.Effect<NewInvitation, UnknownPerson | ConsoleUnavailable>
  /**
   * Uses up the link, and those for the first person. `email` counts only if the invitation has none. After a few
   * addresses that are taken, further attempts with the link have to wait.
   */
  readonly accept: (
    acceptance: Readonly<Record<"token" | "email" | "password", string>>
  ) => Effect.Effect<
    SignedIn,
    InvitationGone | EmailTaken | InvalidEmail | WeakPassword | TooManyAttempts | ConsoleUnavailable
  >
  /**
   * `address` is the caller's network address. Failures for an e-mail or an address make later attempts wait. Failures
   * in a browser that the person has signed in with count only for that browser. `known_browser` is its token, if any.
   */
  readonly signIn: (
    claim: Readonly<Record<"email" | "password" | "address", string>> & { readonly known_browser?: string | undefined }
  ) => Effect.Effect<SignedIn, WrongCredentials | TooManyAttempts | ConsoleUnavailable>
  /** Finds the signed-in person. A session lasts at most seven days, and ends after twelve hours without activity. */
  readonly session: (token: string) => Effect.Effect<Option.Option<Person>, ConsoleUnavailable>
  readonly signOut: (token: string) => Effect.Effect<void, ConsoleUnavailable>
  /** Ends every session of the person, even the current one, which may have been copied. A new one begins. */
  readonly changePassword: (
    change: Readonly<Record<"person_id" | "current" | "next", string>>
  ) => Effect.Effect<SignedIn, WrongCredentials | WeakPassword | TooManyAttempts | ConsoleUnavailable>
  /** The same for the person who is signed in by `token`; none if that session has ended in the meantime. */
  readonly signOutElsewhere: (current: {
    readonly person: Person
    readonly token: string
  }) => Effect.Effect<Option.Option<SignedIn>, ConsoleUnavailable>
  /** Ordered by e-mail. */
  readonly people: (accountId: string) => Effect.Effect<ReadonlyArray<Person>, ConsoleUnavailable>
  /** Also ends the person's sessions and links. With `account_id`, a person of another account is unknown. */
  readonly remove: (person: {
    readonly person_id: string
    readonly account_id?: string
  }) => Effect.Effect<Person, UnknownPerson | ConsoleUnavailable>
  /** Whether no person can sign in yet. */
  readonly isEmpty: Effect.Effect<boolean, ConsoleUnavailable>
  readonly signIns: () => SignIns
}

export class People extends Context.Service<People, Access>()("larder/serve/People") {}
