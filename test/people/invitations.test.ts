/** One-time links on both databases: for whom, how long they are valid, and what replaces them. */

import { assert, describe, it } from "@effect/vitest"
import { createFirstLink, type OpenInvitation, People } from "@larder/serve/people"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { consoleDatabaseKinds } from "../support/serve/console-databases.ts"
import { join, otherPassword, password, peopleIn, signIn } from "./joined.ts"

const operator = { account_id: "acct_demo", email: null, is_operator: true }

/** The token of the link that a start prints; undefined if it prints none. */
const printFirstLink = Effect.map(
  createFirstLink("acct_demo", "http://127.0.0.1:8081"),
  (link) => /^http:\/\/127\.0\.0\.1:8081\/invitation\/([\w-]{43})$/.exec(link ?? "")?.[1]
)
const isValid = (token = "") => People.use((people) => Effect.map(people.invitation(token), Option.isSome))
const accept = (token: string | undefined, email = "") =>
  People.use((people) => people.accept({ token: token ?? "", email, password }))
const listOpen = (account_id: string) => People.use((people) => people.invitations(account_id))
const tryAccept = (token: string, email: string, chosen = password) =>
  People.use((people) =>
    Effect.match(people.accept({ token, email, password: chosen }), {
      onFailure: ({ _tag }): string => _tag,
      onSuccess: () => "joined"
    })
  )
const withoutToken = ({ token: _, ...invitation }: OpenInvitation & { readonly token: string }) => invitation

describe.each(consoleDatabaseKinds)("a link for the first person in %s", (name) => {
  const withPeople = peopleIn(name)

  it.effect("creates an operator, and is printed only until the first person has joined", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const { person } = yield* accept(yield* printFirstLink, "a@example.com")
        assert.deepStrictEqual([person.account_id, person.is_operator], ["acct_demo", true])
        assert.isUndefined(yield* printFirstLink)
      })
    )
  )

  it.effect("replaces the links that earlier starts printed, and no other invitation", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { token: invited } = yield* people.invite(operator)
        const [earlier, latest] = [yield* printFirstLink, yield* printFirstLink]
        assert.deepStrictEqual(yield* Effect.all([earlier, latest, invited].map(isValid)), [false, true, true])
        yield* accept(invited, "a@example.com")
      })
    )
  )

  it.effect("stops working when a person joins by another link, even after that person is removed", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { token: invited } = yield* people.invite(operator)
        const first = yield* printFirstLink
        const { person } = yield* accept(invited, "a@example.com")
        assert.isFalse(yield* isValid(first))
        assert.deepStrictEqual(yield* listOpen("acct_demo"), [])
        assert.strictEqual((yield* Effect.flip(accept(first, "thief@example.com")))._tag, "InvalidInvitation")
        yield* people.remove(person.id)
        assert.isFalse(yield* isValid(first))
      })
    )
  )

  it.effect("does not work while any person can sign in", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const first = yield* printFirstLink
        const { run } = yield* ConsoleDatabase
        yield* run("insert into console.person values ('pers_a', 'acct_a', 'a@example.com', '', false, '')")
        assert.isFalse(yield* isValid(first))
        assert.strictEqual((yield* Effect.flip(accept(first, "thief@example.com")))._tag, "InvalidInvitation")
      })
    )
  )

  it.effect("lets only one person join when two servers have printed one link each", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const { run } = yield* ConsoleDatabase
        const first = yield* printFirstLink
        yield* run("update console.invitation set is_first = false")
        const second = yield* printFirstLink
        yield* run("update console.invitation set is_first = true")
        const exits = yield* Effect.all(
          [accept(first, "a@example.com"), accept(second, "b@example.com")].map(Effect.exit),
          {
            concurrency: "unbounded"
          }
        )
        assert.deepStrictEqual(exits.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      })
    )
  )
})

describe.each(consoleDatabaseKinds)("an invitation in %s", (name) => {
  const withPeople = peopleIn(name)
  const ann = { account_id: "acct_a", email: " Ann@Example.com", is_operator: true }

  it.effect("is stored with the address in lower case, and listed for its account while it is open", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const invited = yield* people.invite(ann)
        const { id, token, ...rest } = invited
        assert.match(id, /^inv_[0-9a-f]{20}$/)
        assert.deepStrictEqual(rest, {
          account_id: "acct_a",
          email: "ann@example.com",
          is_operator: true,
          person_id: null,
          expires_at: "2026-11-08T00:00:00.000Z"
        })
        assert.deepStrictEqual(yield* listOpen("acct_a"), [withoutToken(invited)])
        assert.deepStrictEqual(yield* listOpen("acct_b"), [])
        yield* accept(token)
        assert.deepStrictEqual(yield* listOpen("acct_a"), [])
      })
    )
  )

  it.effect("replaces the open one for the same address and account, and no other", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const earlier = yield* people.invite(ann)
        const others = [
          yield* people.invite({ ...ann, account_id: "acct_b" }),
          yield* people.invite({ ...ann, email: "bob@example.com" }),
          yield* people.invite({ ...ann, email: null })
        ]
        const latest = yield* people.invite({ ...ann, email: "ANN@example.com", is_operator: false })
        const validity = yield* Effect.all([earlier, latest, ...others].map(({ token }) => isValid(token)))
        assert.deepStrictEqual(validity, [false, true, true, true, true])
        const { person } = yield* accept(latest.token)
        assert.isFalse(person.is_operator)
      })
    )
  )

  it.effect("lets only one of six people join who accept it at once", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { token } = yield* people.invite({ ...ann, email: null })
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, person) => `person-${person}@example.com`),
          (email) => tryAccept(token, email),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          outcomes.filter((outcome) => outcome === "joined"),
          1
        )
        assert.lengthOf(yield* people.people(ann.account_id), 1)
      })
    )
  )

  it.effect("does not reveal with a weak password whether an address is taken", () =>
    withPeople(() =>
      Effect.gen(function* () {
        yield* join("ann@example.com")
        const { token } = yield* People.use((people) => people.invite({ ...ann, email: null }))
        assert.strictEqual(yield* tryAccept(token, "ann@example.com", "too short"), "WeakPassword")
        assert.strictEqual(yield* tryAccept(token, "bob@example.com", "too short"), "WeakPassword")
      })
    )
  )

  it.effect("requires a wait after five taken addresses, twice as long each time, and works after the wait", () =>
    withPeople(() =>
      Effect.gen(function* () {
        yield* join("ann@example.com")
        const { token } = yield* People.use((people) => people.invite({ ...ann, email: null }))
        const attempts = Array.from({ length: 8 }, () => tryAccept(token, "ann@example.com"))
        const outcomes = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.deepStrictEqual(outcomes.toSorted(), [
          ...Array(5).fill("EmailTaken"),
          ...Array(3).fill("TooManyAttempts")
        ])
        assert.strictEqual(yield* tryAccept(token, "bob@example.com"), "TooManyAttempts")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* tryAccept(token, "ann@example.com"), "EmailTaken")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* tryAccept(token, "bob@example.com"), "TooManyAttempts")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* tryAccept(token, "bob@example.com"), "joined")
      })
    )
  )

  it.effect("causes no wait for four mistyped addresses and weak passwords", () =>
    withPeople(() =>
      Effect.gen(function* () {
        yield* join("ann@example.com")
        const { token } = yield* People.use((people) => people.invite({ ...ann, email: null }))
        for (let time = 0; time < 4; time++) {
          assert.strictEqual(yield* tryAccept(token, "ann@example.com"), "EmailTaken")
          assert.strictEqual(yield* tryAccept(token, "bob@example.com", "too short"), "WeakPassword")
          assert.strictEqual(yield* tryAccept(token, "bob at example"), "InvalidEmail")
        }
        assert.strictEqual(yield* tryAccept(token, "bob@example.com"), "joined")
      })
    )
  )

  it.effect("can be withdrawn by its id only once", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const [wrong, right] = [yield* people.invite(ann), yield* people.invite({ ...ann, email: null })]
        assert.deepStrictEqual(yield* people.withdraw(wrong.id), withoutToken(wrong))
        assert.deepStrictEqual([yield* isValid(wrong.token), yield* isValid(right.token)], [false, true])
        assert.strictEqual((yield* Effect.flip(people.withdraw(wrong.id)))._tag, "UnknownInvitation")
      })
    )
  )
})

describe.each(consoleDatabaseKinds)("a reset of a password in %s", (name) => {
  const withPeople = peopleIn(name)

  it.effect("creates a link for a new password, ends the sessions and the old password, and keeps the person", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { person, token: session } = yield* join("ann@example.com", "acct_a", true)
        const { token, ...listed } = yield* people.reset(person.id)
        const { id: person_id, ...same } = person
        assert.deepInclude(listed, { ...same, person_id })
        assert.deepStrictEqual(yield* listOpen("acct_a"), [listed])
        assert.deepStrictEqual(yield* people.session(session), Option.none())
        assert.strictEqual((yield* Effect.flip(signIn("ann@example.com")))._tag, "WrongCredentials")

        const weak = yield* Effect.flip(people.accept({ token, email: "", password: "ann@example.com" }))
        assert.strictEqual(weak._tag, "WeakPassword")
        const accepted = yield* people.accept({ token, email: "eve@example.com", password: otherPassword })
        assert.deepStrictEqual(accepted.person, person)
        assert.deepStrictEqual(yield* people.session(accepted.token), Option.some(person))
        assert.deepStrictEqual((yield* signIn("ann@example.com", otherPassword)).person, person)
        assert.deepStrictEqual(yield* people.people("acct_a"), [person])
        assert.strictEqual((yield* Effect.flip(accept(token)))._tag, "InvalidInvitation")
      })
    )
  )

  it.effect("replaces an earlier reset, and ends when the person is removed", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { person } = yield* join("ann@example.com")
        const [earlier, latest] = [yield* people.reset(person.id), yield* people.reset(person.id)]
        assert.deepStrictEqual([yield* isValid(earlier.token), yield* isValid(latest.token)], [false, true])
        yield* people.remove(person.id)
        assert.isFalse(yield* isValid(latest.token))
        assert.strictEqual((yield* Effect.flip(people.reset(person.id)))._tag, "UnknownPerson")
      })
    )
  )
})
