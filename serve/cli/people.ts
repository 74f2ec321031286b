/** `larder-serve people invite|withdraw|list|reset|remove` */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type OpenInvitation, PeopleAdministration, type Person } from "../people/index.ts"
import { homeSetting } from "../settings.ts"
import { layerPeopleAdministration } from "./control/reach-people.ts"
import { account, json, print, table } from "./flags.ts"

/** Runs a command against the people of `LARDER_HOME`, in this process or in the server that holds them. */
const withPeople = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerPeopleAdministration(home)))

const roleOf = (isOperator: boolean) => (isOperator ? "operator" : "member")

const person = Flag.String("person").pipe(Flag.withMetavar("ID"), Flag.withDescription("Id of the person, pers_…"))

const invite = Command.make(
  "invite",
  {
    account,
    email: Flag.String("email").pipe(
      Flag.withMetavar("ADDRESS"),
      Flag.withDescription("E-mail address that the person will sign in with; by default they choose one"),
      Flag.optional
    ),
    operator: Flag.Boolean("operator").pipe(
      Flag.withDescription(
        "Also show the person the state of the warehouse; while payments are simulated, they can also see, refund and dispute the payments of all accounts"
      ),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fn(function* ({ account, email, json, operator }) {
    const invitation = yield* PeopleAdministration.use((people) =>
      people.invitePerson({ account_id: account, email: Option.getOrNull(email), is_operator: operator })
    )
    yield* print(json, invitation, [
      invitation.link,
      "",
      `This link works once, until ${invitation.expires_at}: the person who opens it chooses the password.`
    ])
  }, withPeople)
).pipe(Command.withDescription("Invite a person to the console: print a one-time link, valid for seven days"))

const withdraw = Command.make(
  "withdraw",
  {
    invitation: Flag.String("invitation").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("Id of the invitation, inv_…, from people list")
    ),
    json
  },
  Effect.fn(function* ({ invitation, json }) {
    const withdrawn = yield* PeopleAdministration.use((people) =>
      people.withdrawInvitation({ invitation_id: invitation })
    )
    yield* print(json, withdrawn, [`The link of ${withdrawn.id} no longer works.`])
  }, withPeople)
).pipe(Command.withDescription("Withdraw an unused invitation"))

const peopleLines = (account: string, people: ReadonlyArray<Person>) =>
  people.length === 0
    ? [`Account ${account} has no people yet. Invite one with: larder-serve people invite --account ${account}`]
    : table([["id", "e-mail", "role"], ...people.map(({ email, id, is_operator }) => [id, email, roleOf(is_operator)])])

const invitationLines = (invitations: ReadonlyArray<OpenInvitation>) =>
  invitations.length === 0
    ? []
    : [
        "",
        "Unused one-time links:",
        ...table([
          ["id", "e-mail", "role", "for", "valid until"],
          ...invitations.map(({ email, expires_at, id, is_operator, person_id }) => [
            id,
            email ?? "any",
            roleOf(is_operator),
            person_id === null ? "a new person" : "a new password",
            expires_at
          ])
        ])
      ]

const list = Command.make(
  "list",
  { account, json },
  Effect.fn(function* ({ account, json }) {
    const listed = yield* PeopleAdministration.use((people) => people.listPeople({ account_id: account }))
    yield* print(json, listed, [...peopleLines(account, listed.people), ...invitationLines(listed.invitations)])
  }, withPeople)
).pipe(Command.withDescription("List the people of an account, and invitations that are not used yet"))

const reset = Command.make(
  "reset",
  { person, json },
  Effect.fn(function* ({ json, person }) {
    const invitation = yield* PeopleAdministration.use((people) => people.resetPerson({ person_id: person }))
    yield* print(json, invitation, [
      invitation.link,
      "",
      `This link works once, until ${invitation.expires_at}: the person who opens it chooses the new password of ${invitation.email}.`,
      "The old password no longer works, and the person is signed out everywhere."
    ])
  }, withPeople)
).pipe(
  Command.withDescription("Reset a password: print a one-time link to choose a new one; the old one stops working")
)

const remove = Command.make(
  "remove",
  { person, json },
  Effect.fn(function* ({ json, person }) {
    const removed = yield* PeopleAdministration.use((people) => people.removePerson({ person_id: person }))
    yield* print(json, removed, [`${removed.email} (${removed.id}) can no longer sign in.`])
  }, withPeople)
).pipe(Command.withDescription("Remove a person, and end their sessions"))

export const people = Command.make("people").pipe(
  Command.withDescription("People who sign in to the console"),
  Command.withSubcommands([invite, withdraw, list, reset, remove])
)
