/** The way in for the first person of a fresh installation. */
import { Effect, Option } from "effect"
import { People } from "./people.ts"
import { invitationLink } from "./people-administration.ts"

/** A one-time link for an operator of this account, in place of earlier ones; undefined where somebody can sign in already. */
export const firstLink = Effect.fn("People.firstLink")(function* (accountId: string, consoleUrl: string) {
  const invitation = yield* People.use((people) => people.inviteFirst(accountId))
  return Option.isSome(invitation) ? invitationLink(consoleUrl, invitation.value.token) : undefined
})
