/** People on one of the databases, on a clock that the test moves, and somebody who has joined. */

import { Passwords, People } from "@larder/serve/people"
import type { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type ConsolePlace, type consolePlaceNames, consolePlaces } from "../support/serve/console-databases.ts"

const peopleWith = (passwords: typeof Passwords.layer) => People.layerNoDeps.pipe(Layer.provide(passwords))

/** Passwords cost nothing here. */
export const layerPeople = peopleWith(Passwords.layerTest)

export const password = "lantern oyster gravel"

const started = Date.parse("2026-11-01T00:00:00.000Z")

/** What a pool of connections does every few seconds, it would do a million times when a test moves the clock by days. */
const onRealTime = <A, E>(layer: Layer.Layer<A, E>) => Layer.effectContext(TestClock.withLive(Layer.build(layer)))

/** On new tables, from 2026-11-01 on; with passwords that cost nothing, unless others are given. */
export const peopleAt =
  (name: (typeof consolePlaceNames)[number], passwords = Passwords.layerTest) =>
  <A, E>(work: (place: ConsolePlace) => Effect.Effect<A, E, People | ConsoleDatabase>) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(started)
      const place = yield* consolePlaces[name]
      return yield* Effect.provide(work(place), peopleWith(passwords).pipe(Layer.provideMerge(onRealTime(place.layer))))
    }).pipe(Effect.scoped)

/** An invited person who has chosen a password. */
export const join = Effect.fnUntraced(function* (email: string, account_id = "acct_a", is_operator = false) {
  const people = yield* People
  const { token } = yield* people.invite({ account_id, email: null, is_operator })
  return yield* people.accept({ token, email, password })
})

export const signIn = (email: string, given = password, from = "192.0.2.7") =>
  People.use((people) => people.signIn({ email, password: given, address: from }))
