/** People who sign in to the console: passwords, sessions and invitations. */
export { openPasswordResets, type PasswordResets } from "./password-resets.ts"
export { People } from "./people.ts"
export {
  administerPeople,
  createFirstLink,
  PeopleAdministration,
  PeopleError,
  peopleOperations
} from "./people-administration.ts"
export type { OpenInvitation, Person, SignedIn, SignIns } from "./person.ts"
