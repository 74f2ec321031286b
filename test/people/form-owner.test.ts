import { assert, describe, it } from "@effect/vitest"
import { People, type Person } from "@larder/serve/people"
import { Effect, Layer } from "effect"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"
import { layerPeople } from "./joined.ts"

const ann: Person = { id: "pers_ann", account_id: "acct_a", email: "ann@example.com", is_operator: false }
const signFor = (person: Person) => People.use((people) => people.formOwner(person))

describe.each(consoleDatabaseKinds)("the owner of a form, with its secret in %s", (name) => {
  it.live("is the same on pages that need the first secret at once, and after a restart, and another for others", () =>
    Effect.gen(function* () {
      const { layer } = yield* consoleDatabases[name]
      const opened = layerPeople.pipe(Layer.provide(Layer.fresh(layer)), Layer.fresh)
      const atOnce = Effect.all(
        Array.from({ length: 20 }, () => signFor(ann)),
        { concurrency: "unbounded" }
      )
      const owners = new Set(yield* Effect.provide(atOnce, opened))
      assert.strictEqual(owners.size, 1)
      const others = [ann, { ...ann, id: "pers_bob" }, { ...ann, account_id: "acct_b" }]
      for (const owner of yield* Effect.provide(Effect.forEach(others, signFor), opened)) owners.add(owner)
      assert.strictEqual(owners.size, 3)
      for (const owner of owners) assert.match(owner, /^[\w-]{43}$/)
    }).pipe(Effect.scoped)
  )
})
