/** The person of a session, and what every page of the person's account shows. */
import { Effect, Option, Redacted } from "effect"
import { Billing } from "../billing/index.ts"
import { Administration } from "../ledger/index.ts"
import { People } from "../people/index.ts"

export const readAccount = Effect.fnUntraced(function* (account_id: string) {
  const account = yield* Administration.use((ledger) => ledger.account({ account_id }))
  return { account, rechargeStop: yield* Billing.use((billing) => billing.rechargeStop(account_id)) }
})

/** Undefined without a valid session. */
export const findSignedIn = Effect.fnUntraced(function* (session: Redacted.Redacted | undefined) {
  if (session === undefined) return undefined
  const person = yield* People.use((people) => people.session(Redacted.value(session)))
  if (Option.isNone(person)) return undefined
  const account = yield* readAccount(person.value.account_id)
  const formOwner = yield* People.use((people) => people.formOwner(person.value))
  return { ...account, person: person.value, session, formOwner }
})
export type SignedIn = NonNullable<Effect.Success<ReturnType<typeof findSignedIn>>>
