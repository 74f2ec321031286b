import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { isPlaceholder, placeholderMacro } from "./placeholders.ts"

const noValues = ["", " ", "\u00a0", "\t\n", "-", "--", " - ", "NA", "na", "N/A", "n/a ", "NULL", "Null"]
const values = ["0", "---", "none", "n", "N.A.", "NAN", "-1", "NA NA", "/", "N / A", "nullable"]

describe("placeholders", () => {
  it.each(noValues)("%j is no value", (text) => assert.isTrue(isPlaceholder(text)))
  it.each(values)("%j is a value", (text) => assert.isFalse(isPlaceholder(text)))

  itLive("are the same in SQL", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(placeholderMacro)
      const list = [...noValues, ...values].map(literal).join(", ")
      const found = yield* db.all(
        Schema.Struct({ said: Schema.String }),
        `select said from (select unnest([${list}]) as said) where is_placeholder(said)`
      )
      assert.deepStrictEqual(
        found.map(({ said }) => said),
        noValues
      )
    })
  )
})
