/** `larder-serve people invite|withdraw|list|reset|remove` */
import { formatTable } from "@larder/warehouse/cli"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { type OpenInvitation, PeopleAdministration, type Person } from "../people/index.ts"
import { homeSetting } from "../settings.ts"
import { layerPeopleAdministration } from "./control/reach.ts"
import { accountFlag, jsonOutputFlag, orNull, print } from "./flags.ts"

/** Runs a command against the people of `LARDER_HOME`, in this process or in the server that holds them. */
const withPeople = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerPeopleAdministration(home)))

const nameRole = (isOperator: boolean) => (isOperator ? "operator" : "member")

interface MailedLink {
  readonly email: string | null
  readonly is_mailed: boolean
  readonly mail_problem: string | null
}
const describeMail = ({ email, is_mailed, mail_problem }: MailedLink) => {
  if (is_mailed) return [`It was mailed to ${email}.`]
  return mail_problem === null ? [] : [`It was not mailed, so send it yourself: ${mail_problem}`]
}

const personFlag = Flag.String("person").pipe(Flag.withMetavar("ID"), Flag.withDescription("Id of the person, pers_…"))

const invite = Command.make(
  "invite",
  {
    account_id: accountFlag,
    email: Flag.String("email").pipe(
      Flag.withMetavar("ADDRESS"),
      Flag.withDescription("E-mail address that the person will sign in with; by default the person chooses one"),
      orNull
    ),
    is_operator: Flag.Boolean("operator").pipe(
      Flag.withDescription(
        "Also show the person the state of the warehouse; while payments are simulated, the person can also see and refund the payments of all accounts"
      ),
      Flag.withDefault(false)
    ),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, ...invited }) {
    const invitation = yield* PeopleAdministration.use((people) => people.invitePerson(invited))
    yield* print(json, invitation, [
      invitation.link,
      "",
      `This link works once, until ${invitation.expires_at}: the person who opens it chooses the password.`,
      ...describeMail(invitation)
    ])
  }, withPeople)
).pipe(
  Command.withDescription(
    "Invite a person to the console: print a one-time link, valid for seven days, and mail it if there is a mail server"
  )
)

const withdraw = Command.make(
  "withdraw",
  {
    invitation_id: Flag.String("invitation").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("Id of the invitation, inv_…, from people list")
    ),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ invitation_id, json }) {
    const withdrawn = yield* PeopleAdministration.use((people) => people.withdrawInvitation({ invitation_id }))
    yield* print(json, withdrawn, [`The link of ${withdrawn.id} no longer works.`])
  }, withPeople)
).pipe(Command.withDescription("Withdraw an unused invitation"))

const formatPeople = (account_id: string, people: ReadonlyArray<Person>) =>
  people.length === 0
    ? [`Account ${account_id} has no people yet. Invite one with: larder-serve people invite --account ${account_id}`]
    : formatTable([
        ["id", "e-mail", "role"],
        ...people.map(({ email, id, is_operator }) => [id, email, nameRole(is_operator)])
      ])

const formatInvitations = (invitations: ReadonlyArray<OpenInvitation>) =>
  invitations.length === 0
    ? []
    : [
        "",
        "Unused one-time links:",
        ...formatTable([
          ["id", "e-mail", "role", "for", "valid until"],
          ...invitations.map(({ email, expires_at, id, is_operator, person_id }) => [
            id,
            email ?? "any",
            nameRole(is_operator),
            person_id === null ? "a new person" : "a new password",
            expires_at
          ])
        ])
      ]

const list = Command.make(
  "list",
  { account_id: accountFlag, json: jsonOutputFlag },
  Effect.fn(function* ({ account_id, json }) {
    const listed = yield* PeopleAdministration.use((people) => people.listPeople({ account_id }))
    yield* print(json, listed, [...formatPeople(account_id, listed.people), ...formatInvitations(listed.invitations)])
  }, withPeople)
).pipe(Command.withDescription("List the people of an account, and invitations that are not used yet"))

const reset = Command.make(
  "reset",
  { person_id: personFlag, json: jsonOutputFlag },
  Effect.fn(function* ({ json, person_id }) {
    const invitation = yield* PeopleAdministration.use((people) => people.resetPerson({ person_id }))
    yield* print(json, invitation, [
      invitation.link,
      "",
      `This link works once, until ${invitation.expires_at}: the person who opens it chooses the new password of ${invitation.email}.`,
      "The old password no longer works, and the person is signed out everywhere.",
      ...describeMail(invitation)
    ])
  }, withPeople)
).pipe(
  Command.withDescription(
    "Reset a password: print a one-time link to choose a new one, valid for an hour, and mail it if there is a mail server; the old one stops working"
  )
)

const remove = Command.make(
  "remove",
  { person_id: personFlag, json: jsonOutputFlag },
  Effect.fn(function* ({ json, person_id }) {
    const removed = yield* PeopleAdministration.use((people) => people.removePerson({ person_id }))
    yield* print(json, removed, [`${removed.email} (${removed.id}) can no longer sign in.`])
  }, withPeople)
).pipe(Command.withDescription("Remove a person, and end their sessions"))

export const peopleCommand = Command.make("people").pipe(
  Command.withDescription("People who sign in to the console"),
  Command.withSubcommands([invite, withdraw, list, reset, remove])
)
