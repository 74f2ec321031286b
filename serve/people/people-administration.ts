/**
 * What an operator may do to people from the command line, whoever carries it out: this process, or a running server on
 * behalf of a command. Invitations come as links, which only the console's address makes.
 */
import { Context, Effect, Schema } from "effect"
import { ConsoleUnavailable } from "../console-database/console-database.ts"
import { Administration, AdministrationError } from "../ledger/administration.ts"
import { EmailTaken, InvalidEmail, People, Person, UnknownPerson } from "./people.ts"

export const Invitation = Schema.Struct({
  /** Good once. Whoever opens it first chooses the password. */
  link: Schema.String,
  account_id: Schema.String,
  email: Schema.NullOr(Schema.String),
  is_operator: Schema.Boolean,
  expires_at: Schema.String
})
export type Invitation = typeof Invitation.Type

/** What can be asked, and what is answered; also the wire of the control channel. */
export const peopleOperations = {
  invitePerson: {
    input: Schema.Struct({
      account_id: Schema.String,
      email: Schema.NullOr(Schema.String),
      is_operator: Schema.Boolean
    }),
    output: Invitation
  },
  listPeople: { input: Schema.Struct({ account_id: Schema.String }), output: Schema.Array(Person) },
  removePerson: { input: Schema.Struct({ person_id: Schema.String }), output: Person }
} as const

type Operation = keyof typeof peopleOperations

export const PeopleError = Schema.Union([
  ...AdministrationError.members,
  EmailTaken,
  InvalidEmail,
  UnknownPerson,
  ConsoleUnavailable
])
export type PeopleError = typeof PeopleError.Type

export class PeopleAdministration extends Context.Service<
  PeopleAdministration,
  {
    readonly [O in Operation]: (
      input: (typeof peopleOperations)[O]["input"]["Type"]
    ) => Effect.Effect<(typeof peopleOperations)[O]["output"]["Type"], PeopleError>
  }
>()("larder/serve/PeopleAdministration") {}

/** The page of the console that an invitation leads to. `consoleUrl` has no slash at its end. */
export const invitationLink = (consoleUrl: string, token: string) => `${consoleUrl}/invitation/${token}`

/** Over the people and the ledger that this process holds. `consoleUrl` may become known after the start. */
export const administerPeople = Effect.fnUntraced(function* (consoleUrl: () => string) {
  const administration = yield* Administration
  const people = yield* People
  return PeopleAdministration.of({
    invitePerson: Effect.fn("PeopleAdministration.invitePerson")(function* (invited) {
      yield* administration.account({ account_id: invited.account_id })
      const { expires_at, token } = yield* people.invite(invited)
      return { link: invitationLink(consoleUrl(), token), ...invited, expires_at }
    }),
    listPeople: ({ account_id }) => Effect.andThen(administration.account({ account_id }), people.people(account_id)),
    removePerson: ({ person_id }) => people.remove({ person_id })
  })
})
