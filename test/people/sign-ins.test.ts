/** Guesses of strangers, copied sessions and lost devices, on both databases. */

import { assert, describe, it } from "@effect/vitest"
import { People } from "@larder/serve/people"
import { Passwords } from "@larder/serve/people/password.ts"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Deferred, Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { collectLog } from "../support/collect-log.ts"
import { consoleDatabaseKinds } from "../support/serve/console-databases.ts"
import { isSignedIn, join, otherPassword, password, peopleIn, signIn } from "./joined.ts"

const email = "ann@example.com"

/** Ten networks make all guesses that are allowed: from the 51st guess on, strangers have to wait. */
const guessFromManyNetworks = Effect.gen(function* () {
  for (let network = 0; network < 10; network++) {
    for (let guess = 0; guess < 5; guess++) {
      yield* Effect.ignore(signIn(email, "a guess", `2001:db8:${network}::1`))
    }
  }
})

const signInFrom = (known_browser: string | undefined, given = password) =>
  People.use((people) => people.signIn({ email, password: given, address: "198.51.100.1", known_browser }))

describe.each(consoleDatabaseKinds)("a person in %s", (name) => {
  const withPeople = peopleIn(name)

  it.effect("signs in with a known browser, and changes the password, even if many strangers guess it", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { known_browser, person } = yield* join(email)
        const bob = yield* join("bob@example.com")
        yield* guessFromManyNetworks
        assert.strictEqual((yield* Effect.flip(signInFrom(undefined)))._tag, "TooManyAttempts")
        assert.strictEqual((yield* Effect.flip(signInFrom("made up")))._tag, "TooManyAttempts")
        assert.strictEqual((yield* Effect.flip(signInFrom(bob.known_browser.token)))._tag, "TooManyAttempts")
        const known = yield* signInFrom(known_browser.token)
        assert.strictEqual(known.known_browser.expires_at.slice(0, 10), "2027-04-30")
        // each sign-in replaces the token, and does not shorten the wait for strangers
        assert.strictEqual((yield* Effect.flip(signInFrom(known_browser.token)))._tag, "TooManyAttempts")
        yield* signInFrom(known.known_browser.token)
        yield* people.changePassword({ person_id: person.id, current: password, next: otherPassword })
      })
    )
  )

  it.effect("has to wait even with a known browser after five failures in that browser", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const { known_browser } = yield* join(email)
        const { token } = known_browser
        for (let failure = 0; failure < 5; failure++) {
          assert.strictEqual((yield* Effect.flip(signInFrom(token, "wrong")))._tag, "WrongCredentials")
        }
        assert.strictEqual((yield* Effect.flip(signInFrom(token)))._tag, "TooManyAttempts")
        yield* TestClock.adjust("1 second")
        yield* signInFrom(token)
      })
    )
  )

  it.effect("no longer has a known browser after 180 days, or after a change of the password", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { known_browser, person } = yield* join(email)
        yield* TestClock.adjust("180 days")
        yield* guessFromManyNetworks
        assert.strictEqual((yield* Effect.flip(signInFrom(known_browser.token)))._tag, "TooManyAttempts")
        yield* TestClock.adjust("2 hours")
        const { known_browser: lost } = yield* signIn(email)
        const changed = yield* people.changePassword({ person_id: person.id, current: password, next: otherPassword })
        yield* guessFromManyNetworks
        assert.strictEqual((yield* Effect.flip(signInFrom(lost.token, otherPassword)))._tag, "TooManyAttempts")
        yield* signInFrom(changed.known_browser.token, otherPassword)
      })
    )
  )

  it.effect("signs out everywhere else, which also ends the current session, and begins a new one", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { person, ...own } = yield* join(email)
        const other = yield* signIn(email)
        const bob = yield* join("bob@example.com")
        const begun = Option.getOrThrow(yield* people.signOutElsewhere({ person, token: own.token }))
        assert.deepStrictEqual(yield* Effect.all([{ person, ...own }, other, bob, begun].map(isSignedIn)), [
          ...[false, false, true, true]
        ])
        // the session has ended in the meantime
        assert.deepStrictEqual(yield* people.signOutElsewhere({ person, token: own.token }), Option.none())
        assert.isTrue(yield* isSignedIn(begun))
      })
    )
  )

  it.effect("keeps no session from a sign-out everywhere else during a change of the password", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { person, token } = yield* join(email)
        const [signedOut] = yield* Effect.all(
          [
            Effect.exit(people.signOutElsewhere({ person, token })),
            people.changePassword({ person_id: person.id, current: password, next: otherPassword })
          ],
          { concurrency: "unbounded" }
        )
        if (Exit.isSuccess(signedOut) && Option.isSome(signedOut.value)) {
          assert.isFalse(yield* isSignedIn(signedOut.value.value))
        }
      })
    )
  )

  it.effect("is logged only by id, and counted: sign-ins, refusals, waits and changes of the password", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { person } = yield* join(email)
        const { lines } = yield* collectLog(
          Effect.gen(function* () {
            yield* signIn(email)
            for (let failure = 0; failure < 5; failure++) yield* Effect.flip(signIn(email, "wrong"))
            yield* Effect.flip(signIn(email))
            yield* Effect.flip(signIn("nobody@example.com", "wrong"))
            yield* Effect.flip(people.changePassword({ person_id: person.id, current: "wrong", next: otherPassword }))
            yield* people.changePassword({ person_id: person.id, current: password, next: otherPassword })
          })
        )
        const person_id = person.id
        const refused = { event: "sign-in refused: wrong credentials", caller: "192.0.2.7" }
        const toWait = `${refused.event}; the next attempt has to wait`
        const changed = { who: person_id, account: person.account_id, person_id, before: null, after: null }
        assert.deepStrictEqual(lines, [
          { event: "signed in", person_id },
          ...Array.from({ length: 4 }, () => ({ ...refused, person_id })),
          { ...refused, event: toWait, person_id, wait_seconds: 1 },
          refused,
          { event: "change of the password refused: wrong credentials", person_id },
          { event: "password changed", ...changed }
        ])
        assert.deepStrictEqual(people.signIns(), { signed_in: 2, refused: 6, put_off: 1 }) // the first one by the link
      })
    )
  )

  it.effect("is logged once, by id, when joining, choosing a new password and signing out elsewhere", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const people = yield* People
        const { lines, result } = yield* collectLog(
          Effect.gen(function* () {
            const { id, token } = yield* people.invite({ account_id: "acct_a", email, is_operator: false })
            const { person } = yield* people.accept({ token, email, password })
            const reset = yield* people.reset(person.id)
            const signedIn = yield* people.accept({ token: reset.token, email, password: otherPassword })
            yield* people.signOutElsewhere(signedIn)
            yield* people.signOutElsewhere(signedIn) // its session has ended
            return { id, person_id: person.id, reset_id: reset.id }
          })
        )
        const { id, person_id, reset_id } = result
        const about = { who: person_id, account: "acct_a", person_id, before: null }
        assert.deepStrictEqual(lines, [
          { event: "person joined", ...about, invitation_id: id, after: { is_operator: false } },
          { event: "password changed", ...about, invitation_id: reset_id, after: null },
          { event: "signed out elsewhere", ...about, after: null }
        ])
      })
    )
  )

  it.effect("leaves no token of a browser in the tables", () =>
    withPeople(() =>
      Effect.gen(function* () {
        const { known_browser, token } = yield* join(email)
        const { all } = yield* ConsoleDatabase
        const rows = yield* all(Schema.Record(Schema.String, Schema.Unknown), "select * from console.known_browser")
        assert.strictEqual(rows.length, 1)
        for (const secret of [known_browser.token, token]) assert.isFalse(JSON.stringify(rows).includes(secret))
      })
    )
  )
})

it.effect("lets a known person sign in and change the password while 140 strangers try", () =>
  peopleIn(
    "SQLite",
    Passwords.layer
  )(() =>
    Effect.gen(function* () {
      const people = yield* People
      const { known_browser, person } = yield* join(email)
      const queueFull = yield* Deferred.make<void>()
      const outcomes: Array<string> = []
      // as many from each address as are allowed at the same time
      const strangers = Array.from({ length: 140 }, (_, guess) =>
        signIn(`p${guess}@example.com`, "a guess", `192.0.2.${guess % 7}`).pipe(
          Effect.flip,
          Effect.tap(({ _tag }) => {
            outcomes.push(_tag)
            return _tag === "TooManyAttempts" ? Deferred.succeed(queueFull, undefined) : Effect.void
          })
        )
      )
      const guessing = yield* Effect.forkChild(Effect.all(strangers, { concurrency: "unbounded" }))
      yield* Deferred.await(queueFull)
      yield* signInFrom(known_browser.token)
      yield* people.changePassword({ person_id: person.id, current: password, next: otherPassword })
      // three passwords are checked, each behind at most two strangers
      assert.isAtMost(outcomes.filter((tag) => tag === "WrongCredentials").length, 20)
      yield* Fiber.interrupt(guessing)
    })
  )
)
