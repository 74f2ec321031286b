/** A person, a session and an invitation as the service `People` returns them, and its errors. */
import { Schema } from "effect"

export const Person = Schema.Struct({
  /** `pers_…`, permanent. */
  id: Schema.String,
  account_id: Schema.String,
  email: Schema.String,
  /** Operators also see the state of the warehouse. */
  is_operator: Schema.Boolean
})
export type Person = typeof Person.Type
/** The row of a query that only checks whether a person exists. */
export const PersonId = Schema.Struct({ id: Schema.String })

/** `token` goes into the cookie and nowhere else. */
export interface SignedIn {
  readonly token: string
  readonly person: Person
  /** ISO 8601 in UTC. The session may end earlier. */
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

/** No person has this address and this password. The message does not reveal which of them is wrong. */
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
    return `Too many attempts. Try again in ${formatWait(this.seconds)}.`
  }
}
const pluralize = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`
const formatWait = (seconds: number) =>
  seconds < 120 ? pluralize(seconds, "second") : pluralize(Math.ceil(seconds / 60), "minute")

/** The link was used or withdrawn, has expired, or never existed. */
export class InvalidInvitation extends Schema.TaggedError<InvalidInvitation>()("InvalidInvitation", {}) {
  override get message() {
    return "This link has been used, was withdrawn, or has expired. Ask for a new one."
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
