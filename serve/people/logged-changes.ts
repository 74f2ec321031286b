/** What the log says about changes of people. It names people and links by their ids: no e-mail address, no token. */
import { Option } from "effect"
import type { LoggedChange } from "../persistence/index.ts"
import type { OpenInvitation, Person, SignedIn } from "./person.ts"

export const describeInvited = ({ account_id, expires_at, id, is_operator }: OpenInvitation): LoggedChange => {
  return { account: account_id, invitation_id: id, before: null, after: { is_operator, expires_at } }
}

export const describeWithdrawn = ({ account_id, expires_at, id, is_operator }: OpenInvitation): LoggedChange => {
  return { account: account_id, invitation_id: id, before: { is_operator, expires_at }, after: null }
}

export const describeReset = ({ account_id, expires_at, id, person_id }: OpenInvitation): LoggedChange => {
  return { account: account_id, person_id, invitation_id: id, before: null, after: { expires_at } }
}

/** A change that people make themselves. */
export const describeOwnChange = ({ person: { account_id, id } }: SignedIn): LoggedChange => {
  return { who: id, account: account_id, person_id: id, before: null, after: null }
}

/** The link has created a person, or let one choose a new password. */
export const describeAccepted = (link: OpenInvitation) => (signedIn: SignedIn) => {
  const { is_operator } = signedIn.person
  const after = link.person_id === null ? { is_operator } : null
  return { ...describeOwnChange(signedIn), invitation_id: link.id, after }
}

export const describeRemoved = ({ account_id, id, is_operator }: Person): LoggedChange => {
  return { account: account_id, person_id: id, before: { is_operator }, after: null }
}

/** For a change that may not be made. */
export const ifMade =
  <A>(describe: (result: A) => LoggedChange) =>
  (result: Option.Option<A>): LoggedChange | undefined =>
    Option.getOrUndefined(Option.map(result, describe))
