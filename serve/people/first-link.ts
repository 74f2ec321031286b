/** The sign-in link for the first person of a fresh installation. */
import { Effect, Option } from "effect"
import { People } from "./people.ts"
import { invitationLink } from "./people-administration.ts"

/**
 * Creates a one-time link for an operator of this account. It replaces earlier ones. Undefined if a person can already
 * sign in.
 */
export const createFirstLink = Effect.fn("People.firstLink")(function* (accountId: string, consoleUrl: string) {
  const invitation = yield* People.use((people) => people.inviteFirst(accountId))
  return Option.isSome(invitation) ? invitationLink(consoleUrl, invitation.value.token) : undefined
})
