/** People, invitations, passwords and sessions on both databases, with a test clock. */

import { assert, describe, it } from "@effect/vitest"
import { People, type SignedIn } from "@larder/serve/people"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Exit, Fiber, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"
import { isSignedIn, join, layerPeople, otherPassword, password, peopleIn, signIn } from "./joined.ts"

describe.each(consoleDatabaseKinds)("a person in %s", (name) => {
  const withPeople = peopleIn(name)

  it.effect("joins by a one-time link, and signs in with the address in any letter case", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        assert.isTrue(yield* people.isEmpty)
        const { expires_at, token } = yield* people.invite({ account_id: "acct_a", email: null, is_operator: true })
        assert.strictEqual(expires_at, "2026-11-08T00:00:00.000Z")
        assert.isTrue(Option.isSome(yield* people.invitation(token)))
        const accepted = yield* people.accept({ token, email: " Ann@Example.COM ", password })
        const { id, ...person } = accepted.person
        assert.match(id, /^pers_[A-Za-z0-9]{20}$/)
        assert.deepStrictEqual(person, { account_id: "acct_a", email: "ann@example.com", is_operator: true })
        assert.strictEqual(accepted.expires_at, "2026-11-08T00:00:00.000Z")
        assert.deepStrictEqual(yield* people.session(accepted.token), Option.some(accepted.person))
        assert.isFalse(yield* people.isEmpty)

        assert.deepStrictEqual(yield* people.invitation(token), Option.none())
        const repeated = yield* Effect.flip(people.accept({ token, email: "bob@example.com", password }))
        assert.strictEqual(repeated._tag, "InvalidInvitation")

        const signedIn = yield* signIn("ANN@example.com")
        assert.deepStrictEqual(signedIn.person, accepted.person)
        assert.notStrictEqual(signedIn.token, accepted.token)
      })
    )
  )

  it.effect("cannot use a link after seven days, or an unknown link", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { token } = yield* people.invite({ account_id: "acct_a", email: null, is_operator: false })
        yield* TestClock.adjust("7 days")
        for (const invalid of [token, "unknown"]) {
          assert.deepStrictEqual(yield* people.invitation(invalid), Option.none())
          const error = yield* Effect.flip(people.accept({ token: invalid, email: "a@example.com", password }))
          assert.strictEqual(error._tag, "InvalidInvitation")
        }
      })
    )
  )

  it.effect("gets the address of the invitation, even if another one is typed", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const invited = { account_id: "acct_a", email: "Ann@example.com", is_operator: false }
        const { token } = yield* people.invite(invited)
        const { person } = yield* people.accept({ token, email: "bob@example.com", password })
        assert.strictEqual(person.email, "ann@example.com")
        assert.strictEqual((yield* Effect.flip(people.invite(invited)))._tag, "EmailTaken")
        assert.strictEqual((yield* Effect.flip(people.invite({ ...invited, email: "ann" })))._tag, "InvalidEmail")
      })
    )
  )

  it.effect("keeps a link that failed for a taken address, a wrong address or a weak password", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        yield* join("ann@example.com", "acct_a")
        const { token } = yield* people.invite({ account_id: "acct_b", email: null, is_operator: false })
        const failed = [
          yield* Effect.flip(people.accept({ token, email: "Ann@example.com", password })),
          yield* Effect.flip(people.accept({ token, email: "ann at example", password })),
          yield* Effect.flip(people.accept({ token, email: "bob@example.com", password: "too short" }))
        ]
        assert.deepStrictEqual(
          failed.map(({ _tag }) => _tag),
          ["EmailTaken", "InvalidEmail", "WeakPassword"]
        )
        const { person } = yield* people.accept({ token, email: "bob@example.com", password })
        assert.strictEqual(person.account_id, "acct_b")
      })
    )
  )

  it.effect("joins only once when two people use one link or one address at the same time", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const link = people.invite({ account_id: "acct_a", email: null, is_operator: false })
        const first = yield* link
        const second = yield* link
        const listSuccesses = (attempts: ReadonlyArray<Effect.Effect<SignedIn, { readonly _tag: string }>>) =>
          Effect.map(Effect.all(attempts.map(Effect.exit), { concurrency: "unbounded" }), (exits) =>
            exits.filter(Exit.isSuccess)
          )
        const byLink = yield* listSuccesses([
          people.accept({ token: first.token, email: "a@example.com", password }),
          people.accept({ token: first.token, email: "b@example.com", password })
        ])
        assert.strictEqual(byLink.length, 1)
        const third = yield* link
        const byAddress = yield* listSuccesses([
          people.accept({ token: second.token, email: "c@example.com", password }),
          people.accept({ token: third.token, email: "c@example.com", password })
        ])
        assert.strictEqual(byAddress.length, 1)
        assert.strictEqual((yield* people.people("acct_a")).length, 2)
        const remaining = yield* Effect.all([second, third].map(({ token }) => people.invitation(token)))
        assert.strictEqual(remaining.filter(Option.isSome).length, 1)
      })
    )
  )

  it.effect("sees the same message for a wrong password and for an unknown address", () =>
    withPeople(() =>
      Effect.gen(function* () {
        yield* join("ann@example.com")
        const wrong = yield* Effect.flip(signIn("ann@example.com", otherPassword))
        const unknown = yield* Effect.flip(signIn("bob@example.com"))
        const none = yield* Effect.flip(signIn("bob"))
        assert.deepStrictEqual([wrong.message, unknown.message, none.message], Array(3).fill(wrong.message))
        assert.deepStrictEqual([wrong._tag, unknown._tag, none._tag], Array(3).fill("WrongCredentials"))
      })
    )
  )

  it.effect("has to wait after five failures, twice as long each time, even if unknown, until a sign-in succeeds", () =>
    withPeople(() =>
      Effect.gen(function* () {
        yield* join("ann@example.com")
        for (const email of ["ann@example.com", "nobody@example.com"]) {
          for (let failure = 1; failure <= 5; failure++) {
            assert.strictEqual((yield* Effect.flip(signIn(email, otherPassword)))._tag, "WrongCredentials")
          }
          for (const seconds of [1, 2]) {
            const refused = yield* Effect.flip(signIn(email))
            assert.deepStrictEqual(
              [refused._tag, "seconds" in refused && refused.seconds],
              ["TooManyAttempts", seconds]
            )
            yield* TestClock.adjust(`${seconds} seconds`)
            assert.strictEqual((yield* Effect.flip(signIn(email, otherPassword)))._tag, "WrongCredentials")
          }
        }
        yield* TestClock.adjust("4 seconds")
        yield* signIn("ann@example.com")
        assert.strictEqual((yield* Effect.flip(signIn("ann@example.com", otherPassword)))._tag, "WrongCredentials")
        yield* signIn("ann@example.com")
      })
    )
  )

  it.effect("is also limited by network address: only 20 of 40 concurrent guesses are checked", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const guesses = Array.from({ length: 40 }, (_, index) =>
          Effect.flip(signIn(`p${index}@example.com`, "x", "bad"))
        )
        const errors = yield* Effect.all(guesses, { concurrency: "unbounded" })
        assert.strictEqual(errors.filter(({ _tag }) => _tag === "WrongCredentials").length, 20)
        yield* join("ann@example.com")
        assert.strictEqual((yield* Effect.flip(signIn("ann@example.com", password, "bad")))._tag, "TooManyAttempts")
        yield* signIn("ann@example.com", password, "good")
      })
    )
  )

  it.effect("stays signed in for at most seven days, if active every twelve hours", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const idle = yield* join("ann@example.com")
        const active = yield* signIn("ann@example.com")
        for (let hours = 11; hours < 7 * 24; hours += 11) {
          yield* TestClock.adjust("11 hours")
          assert.isTrue(yield* isSignedIn(active), `after ${hours} hours`)
        }
        assert.isFalse(yield* isSignedIn(idle))
        yield* TestClock.adjust("3 hours")
        assert.isFalse(yield* isSignedIn(active))

        const late = yield* signIn("ann@example.com")
        yield* TestClock.adjust("12 hours")
        assert.isFalse(yield* isSignedIn(late))
      })
    )
  )

  it.effect("signs out of one session, and can do so twice without an error", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const first = yield* join("ann@example.com")
        const second = yield* signIn("ann@example.com")
        yield* people.signOut(first.token)
        yield* people.signOut(first.token)
        assert.deepStrictEqual([yield* isSignedIn(first), yield* isSignedIn(second)], [false, true])
      })
    )
  )

  it.effect("changes the password, which ends all sessions and begins a new one", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const own = yield* join("ann@example.com")
        const other = yield* signIn("ann@example.com")
        const otherPerson = yield* join("bob@example.com")
        const change = { person_id: own.person.id, current: password, next: otherPassword }
        const wrong = yield* Effect.flip(people.changePassword({ ...change, current: otherPassword }))
        const weak = yield* Effect.flip(people.changePassword({ ...change, next: "ann@example.com" }))
        assert.deepStrictEqual([wrong._tag, weak._tag], ["WrongCredentials", "WeakPassword"])
        assert.isTrue(yield* isSignedIn(other))

        const begun = yield* people.changePassword(change)
        const signedIn = yield* Effect.all([own, other, otherPerson, begun].map(isSignedIn))
        assert.deepStrictEqual(signedIn, [false, false, true, true])
        assert.strictEqual((yield* Effect.flip(signIn("ann@example.com")))._tag, "WrongCredentials")
        yield* signIn("ann@example.com", otherPassword)
      })
    )
  )

  it.effect("keeps no session that begins with the old password during a change or a removal", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const own = yield* join("ann@example.com")
        const signInDuring = (change: Effect.Effect<unknown, unknown>, email: string) =>
          Effect.gen(function* () {
            const changing = yield* Effect.forkChild(Effect.exit(change))
            const signIns = Array.from({ length: 3 }, () => Effect.exit(signIn(email)))
            const exits = yield* Effect.all(signIns, { concurrency: "unbounded" })
            yield* Fiber.join(changing)
            return exits.filter(Exit.isSuccess).map(({ value }) => value)
          })
        const change = { person_id: own.person.id, current: password, next: otherPassword }
        const old = yield* signInDuring(people.changePassword(change), "ann@example.com")
        assert.deepStrictEqual(
          yield* Effect.all(old.map(isSignedIn)),
          old.map(() => false)
        )
        const bob = yield* join("bob@example.com")
        const ended = yield* signInDuring(people.remove(bob.person.id), "bob@example.com")
        assert.deepStrictEqual(
          yield* Effect.all(ended.map(isSignedIn)),
          ended.map(() => false)
        )
      })
    )
  )

  it.effect("is removed with all sessions, and the address can be used again", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const ann = yield* join("ann@example.com", "acct_a")
        const { person } = yield* join("bob@example.com", "acct_b")
        assert.deepStrictEqual(yield* people.people("acct_b"), [person])
        assert.deepStrictEqual(yield* people.remove(ann.person.id), ann.person)
        assert.isFalse(yield* isSignedIn(ann))
        assert.strictEqual((yield* Effect.flip(signIn("ann@example.com")))._tag, "WrongCredentials")
        assert.strictEqual((yield* Effect.flip(people.remove(ann.person.id)))._tag, "UnknownPerson")
        const { person: rejoined } = yield* join("ann@example.com", "acct_b")
        assert.strictEqual(rejoined.account_id, "acct_b")
      })
    )
  )

  it.effect("leaves no token and no password in the tables", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const link = yield* people.invite({ account_id: "acct_a", email: null, is_operator: false })
        const { token } = yield* join("ann@example.com")
        const stored = Schema.Struct({ person: Schema.String, session: Schema.String, invitations: Schema.String })
        const { all } = yield* ConsoleDatabase
        const found = yield* all(
          stored,
          `select p.email || p.password as person, s.token_sha256 as session, string_agg(i.token_sha256, ' ') as invitations
          from console.person as p, console.session as s, console.invitation as i
          group by p.email, p.password, s.token_sha256`
        )
        assert.strictEqual(found.length, 1)
        const text = JSON.stringify(found)
        assert.match(text, /scrypt/)
        for (const secret of [link.token, token, password]) assert.isFalse(text.includes(secret))
      })
    )
  )

  it.effect("stays signed in when the tables are opened again", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      const opened = layerPeople.pipe(Layer.provide(Layer.fresh(layer)), Layer.fresh)
      const signedIn = yield* Effect.provide(join("ann@example.com"), opened)
      assert.isTrue(yield* Effect.provide(isSignedIn(signedIn), opened))
    }).pipe(Effect.scoped)
  )
})
