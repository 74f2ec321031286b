/**
 * The operations on people for the command line: in this process, or in a running server on behalf of a command.
 * New invitations are returned as links, which contain the console's address.
 */
import { Context, Effect, Option, Schema } from "effect"
import { Administration, AdministrationError } from "../ledger/index.ts"
import type { Mailer } from "../mail/index.ts"
import { ConsoleUnavailable, logChange } from "../persistence/index.ts"
import { describeInvited, describeRemoved, describeReset, describeWithdrawn, ifMade } from "./logged-changes.ts"
import { buildLink, mailLink, maxMailsPerDay } from "./mailed-links.ts"
import { People } from "./people.ts"
import {
  EmailTaken,
  InvalidEmail,
  type NewInvitation,
  OpenInvitation,
  Person,
  UnknownInvitation,
  UnknownPerson
} from "./person.ts"

/** The link works once: the first person who uses it chooses the password. */
const Invitation = Schema.Struct({
  link: Schema.String,
  ...OpenInvitation.fields,
  /** Whether the link was mailed to `email`. */
  is_mailed: Schema.Boolean,
  /** Why it was not; null if it was, or if the server has no mail server or the link no address. */
  mail_problem: Schema.NullOr(Schema.String)
})

/** Inputs and outputs of all operations; also the wire format of the control channel. */
export const peopleOperations = {
  invitePerson: {
    input: Schema.Struct({
      account_id: Schema.String,
      email: Schema.NullOr(Schema.String),
      is_operator: Schema.Boolean
    }),
    output: Invitation
  },
  withdrawInvitation: { input: Schema.Struct({ invitation_id: Schema.String }), output: OpenInvitation },
  listPeople: {
    input: Schema.Struct({ account_id: Schema.String }),
    output: Schema.Struct({ people: Schema.Array(Person), invitations: Schema.Array(OpenInvitation) })
  },
  resetPerson: { input: Schema.Struct({ person_id: Schema.String }), output: Invitation },
  removePerson: { input: Schema.Struct({ person_id: Schema.String }), output: Person }
} as const

type Operation = keyof typeof peopleOperations

export const PeopleError = Schema.Union([
  ...AdministrationError.members,
  EmailTaken,
  InvalidEmail,
  UnknownInvitation,
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

/**
 * Administers the people of this process. `consoleUrl` returns the final address after the start. With a mail server, the
 * links are also mailed.
 */
export const administerPeople = Effect.fnUntraced(function* (consoleUrl: () => string, mailer?: Mailer) {
  const administration = yield* Administration
  const people = yield* People
  /** Returns why the link was not mailed; undefined if it was. */
  const mail = (kind: "invitation" | "reset", invitation: NewInvitation, sender: Mailer, email: string) =>
    people.withinMailLimit(email, mailLink(sender, kind, email, invitation, consoleUrl())).pipe(
      Effect.map((isMailed) =>
        isMailed ? undefined : `${maxMailsPerDay} links have been mailed to this address within a day`
      ),
      Effect.catchTag("MailNotDelivered", ({ message }) => Effect.succeed(message))
    )
  const withLink = Effect.fnUntraced(function* (kind: "invitation" | "reset", invitation: NewInvitation) {
    const { token, ...shown } = invitation
    const canMail = mailer?.delivery === "smtp" && invitation.email !== null
    const problem = canMail ? yield* mail(kind, invitation, mailer, invitation.email) : undefined
    const result = { is_mailed: canMail && problem === undefined, mail_problem: problem ?? null }
    return { link: buildLink(consoleUrl(), token), ...shown, ...result }
  })
  return PeopleAdministration.of({
    invitePerson: Effect.fn("PeopleAdministration.invitePerson")(function* (invited) {
      yield* administration.account({ account_id: invited.account_id })
      return yield* withLink("invitation", yield* logChange(people.invite(invited), "person invited", describeInvited))
    }),
    withdrawInvitation: ({ invitation_id }) =>
      logChange(people.withdraw(invitation_id), "invitation withdrawn", describeWithdrawn),
    listPeople: Effect.fn("PeopleAdministration.listPeople")(function* ({ account_id }) {
      yield* administration.account({ account_id })
      return { people: yield* people.people(account_id), invitations: yield* people.invitations(account_id) }
    }),
    resetPerson: ({ person_id }) =>
      Effect.flatMap(logChange(people.reset(person_id), "password reset", describeReset), (invitation) =>
        withLink("reset", invitation)
      ),
    removePerson: ({ person_id }) => logChange(people.remove(person_id), "person removed", describeRemoved)
  })
})

/**
 * Creates a one-time link for an operator, the first person of a fresh installation. It replaces earlier ones. Undefined
 * if a person can already sign in.
 */
export const createFirstLink = Effect.fn("People.firstLink")(function* (accountId: string, consoleUrl: string) {
  const people = yield* People
  const invitation = yield* logChange(people.inviteFirst(accountId), "person invited", ifMade(describeInvited))
  return Option.isSome(invitation) ? buildLink(consoleUrl, invitation.value.token) : undefined
})
