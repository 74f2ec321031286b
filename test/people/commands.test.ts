/** `larder-serve people` over PostgreSQL: commands connect to the database themselves. */

import { assert, describe, it } from "@effect/vitest"
import { type OpenInvitation, People, type Person } from "@larder/serve/people"
import { Effect, Layer } from "effect"
import { admin } from "../support/programs.ts"
import { consoleDatabases } from "../support/serve/console-databases.ts"
import { layerPeople } from "./joined.ts"

type Linked = OpenInvitation & {
  readonly link: string
  readonly is_mailed: boolean
  readonly mail_problem: string | null
}

describe("larder-serve people over PostgreSQL", () => {
  it.live("invites, lists, resets and removes people, and withdraws an invitation", () =>
    Effect.gen(function* () {
      const { environment, layer } = yield* consoleDatabases.PostgreSQL
      const command = <A>(...args: ReadonlyArray<string>) =>
        Effect.promise(() => admin<A>(environment.LARDER_HOME ?? "", args, environment))
      const { id } = yield* command<{ readonly id: string }>("accounts", "create", "--name", "Ann Co")
      const { link } = yield* command<Linked>("people", "invite", "--account", id)
      const { person } = yield* People.use((people) =>
        people.accept({ token: link.slice(-43), email: "ann@example.com", password: "lantern oyster gravel" })
      ).pipe(Effect.provide(layerPeople.pipe(Layer.provide(layer))))
      assert.strictEqual(person.account_id, id)
      assert.deepStrictEqual(yield* command("people", "list", "--account", id), { people: [person], invitations: [] })
      const {
        link: reset,
        is_mailed,
        mail_problem,
        ...open
      } = yield* command<Linked>("people", "reset", "--person", person.id)
      assert.match(reset, /\/invitation\/[\w-]{43}$/)
      assert.deepStrictEqual([open.person_id, is_mailed, mail_problem], [person.id, false, null])
      assert.deepStrictEqual(yield* command("people", "list", "--account", id), {
        people: [person],
        invitations: [open]
      })
      assert.deepStrictEqual(yield* command("people", "withdraw", "--invitation", open.id), open)
      assert.deepStrictEqual(yield* command<Person>("people", "remove", "--person", person.id), person)
      assert.deepStrictEqual(yield* command("people", "list", "--account", id), { people: [], invitations: [] })
    }).pipe(Effect.scoped)
  )
})
