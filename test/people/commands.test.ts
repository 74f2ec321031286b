/** `larder-serve people` over PostgreSQL: commands reach the tables by themselves. */

import { assert, describe, it } from "@effect/vitest"
import { layerPeople } from "@larder/serve/people/kept-people.ts"
import { People, type Person } from "@larder/serve/people/people.ts"
import { Effect, Layer } from "effect"
import { consolePlaces } from "../console-databases.ts"
import { admin } from "../programs.ts"

describe("people over PostgreSQL, from the command line", () => {
  it.live("are invited, listed and removed", () =>
    Effect.gen(function* () {
      const { environment, layer } = yield* consolePlaces.PostgreSQL
      const command = <A>(...args: ReadonlyArray<string>) =>
        Effect.promise(() => admin<A>(environment.LARDER_HOME ?? "", args, environment))
      const { id } = yield* command<{ readonly id: string }>("accounts", "create", "--name", "Ann Co")
      const { link } = yield* command<{ readonly link: string }>("people", "invite", "--account", id)
      const { person } = yield* People.use((people) =>
        people.accept({ token: link.slice(-43), email: "ann@example.com", password: "correct horse battery" })
      ).pipe(Effect.provide(layerPeople.pipe(Layer.provide(layer))))
      assert.strictEqual(person.account_id, id)
      assert.deepStrictEqual(yield* command<ReadonlyArray<Person>>("people", "list", "--account", id), [person])
      assert.deepStrictEqual(yield* command<Person>("people", "remove", "--person", person.id), person)
      assert.deepStrictEqual(yield* command<ReadonlyArray<Person>>("people", "list", "--account", id), [])
    }).pipe(Effect.scoped)
  )
})
