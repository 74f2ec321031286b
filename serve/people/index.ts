/** People who sign in to the console: passwords, sessions and invitations. */
export { layerPeople, layerPeopleNoDeps } from "./kept-people.ts"
export { Passwords } from "./password.ts"
export { type OpenInvitation, People, type Person, type SignedIn, type SignIns } from "./people.ts"
export {
  administerPeople,
  createFirstLink,
  PeopleAdministration,
  PeopleError,
  peopleOperations
} from "./people-administration.ts"
