/** What a run may ask of the generation that is live when it starts: how far feeds were read, which payloads are known. */
import { Effect, Option } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { currentFile, type Layout, openGeneration } from "./layout.ts"

/** Reads from the live generation, if there is one and it has this table; else answers with `otherwise`. */
export const fromLive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  table: { readonly schema: string; readonly name: string },
  otherwise: A,
  read: (db: DuckDb["Service"]) => Effect.Effect<A, E, R>
) {
  const file = yield* currentFile(layout)
  if (Option.isNone(file)) return otherwise
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* openGeneration(file.value)
      const there = yield* db.rows(
        "select 1 from information_schema.tables where table_schema = $schema and table_name = $name",
        { schema: table.schema, name: table.name }
      )
      return there.length === 0 ? otherwise : yield* read(db)
    })
  )
})
