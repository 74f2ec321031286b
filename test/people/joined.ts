/** Helpers for tests of people: the databases with a test clock, and a person who has joined. */

import { People, type SignedIn } from "@larder/serve/people"
import { Passwords } from "@larder/serve/people/password.ts"
import type { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { type consoleDatabaseKinds, consoleDatabases, type TestDatabase } from "../support/serve/console-databases.ts"

const peopleWith = (passwords: typeof Passwords.layer) => People.layerNoDeps.pipe(Layer.provide(passwords))

/** Hashing passwords is fast here. */
export const layerPeople = peopleWith(Passwords.layerTest)

export const password = "lantern oyster gravel"
export const otherPassword = "staple correct horse"

const started = Date.parse("2026-11-01T00:00:00.000Z")

/** On the test clock, the periodic work of a connection pool would run a million times when a test advances it by days. */
const withRealTime = <A, E>(layer: Layer.Layer<A, E>) => Layer.effectContext(TestClock.withLive(Layer.build(layer)))

/** On new tables, from 2026-11-01 on; hashing is fast unless other passwords are given. */
export const peopleIn =
  (name: (typeof consoleDatabaseKinds)[number], passwords = Passwords.layerTest) =>
  <A, E>(work: (testDatabase: TestDatabase) => Effect.Effect<A, E, People | ConsoleDatabase>) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(started)
      const testDatabase = yield* consoleDatabases[name]
      return yield* Effect.provide(
        work(testDatabase),
        peopleWith(passwords).pipe(Layer.provideMerge(withRealTime(testDatabase.layer)))
      )
    }).pipe(Effect.scoped)

/** An invited person who has chosen a password. */
export const join = Effect.fnUntraced(function* (email: string, account_id = "acct_a", is_operator = false) {
  const people = yield* People
  const { token } = yield* people.invite({ account_id, email: null, is_operator })
  return yield* people.accept({ token, email, password })
})

export const isSignedIn = ({ token }: SignedIn) =>
  Effect.map(
    People.use((people) => people.session(token)),
    Option.isSome
  )

export const signIn = (email: string, given = password, address = "192.0.2.7") =>
  People.use((people) => people.signIn({ email, password: given, address }))
