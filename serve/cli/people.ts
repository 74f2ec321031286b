/** `larder-serve people invite|list|remove` */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { PeopleAdministration } from "../people/people-administration.ts"
import { layerPeopleAdministration } from "../people/reach.ts"
import { homeSetting } from "../settings.ts"
import { account, json, print, table } from "./flags.ts"

/** Runs a command against the people in `LARDER_HOME`, here or in the server that holds them. */
const withPeople = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerPeopleAdministration(home)))

const roleOf = (isOperator: boolean) => (isOperator ? "operator" : "member")

const invite = Command.make(
  "invite",
  {
    account,
    email: Flag.String("email").pipe(
      Flag.withMetavar("ADDRESS"),
      Flag.withDescription("E-mail address with which the person will sign in; without it she chooses one"),
      Flag.optional
    ),
    operator: Flag.Boolean("operator").pipe(
      Flag.withDescription("Let the person see the state of the warehouse, too"),
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
      `This link is good once, until ${invitation.expires_at}: whoever opens it chooses the password.`
    ])
  }, withPeople)
).pipe(Command.withDescription("Make a one-time link with which a person gets a sign-in to the console"))

const list = Command.make(
  "list",
  { account, json },
  Effect.fn(function* ({ account, json }) {
    const people = yield* PeopleAdministration.use((people) => people.listPeople({ account_id: account }))
    const rows = people.map(({ email, id, is_operator }) => [id, email, roleOf(is_operator)])
    const none = `Nobody signs in for account ${account} yet. Invite somebody with: larder-serve people invite --account ${account}`
    yield* print(json, people, rows.length === 0 ? [none] : table([["id", "e-mail", "role"], ...rows]))
  }, withPeople)
).pipe(Command.withDescription("List the people who sign in for an account"))

const remove = Command.make(
  "remove",
  {
    person: Flag.String("person").pipe(Flag.withMetavar("ID"), Flag.withDescription("Id of the person, pers_…")),
    json
  },
  Effect.fn(function* ({ json, person }) {
    const removed = yield* PeopleAdministration.use((people) => people.removePerson({ person_id: person }))
    yield* print(json, removed, [`${removed.email} (${removed.id}) cannot sign in any more.`])
  }, withPeople)
).pipe(Command.withDescription("Remove a person, and end her sessions"))

export const people = Command.make("people").pipe(
  Command.withDescription("People who sign in to the console"),
  Command.withSubcommands([invite, list, remove])
)
