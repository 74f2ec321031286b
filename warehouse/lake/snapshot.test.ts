import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Manifest } from "../generation/manifest.ts"
import type { Definitions } from "./definitions.ts"
import { attachCatalogue, columnsByTable } from "./ducklake.ts"
import { expireSnapshots } from "./retention.ts"
import { beginSnapshot, endSnapshot } from "./snapshot.ts"
import { shapeOf } from "./types.ts"

/** Columns by their names, with their types. */
type Columns = Readonly<Record<string, string>>

const definitions = (columns: Columns): Definitions => ({
  tables: [
    {
      schema: "shop",
      name: "price",
      comment: "Prices.",
      columns: Object.entries(columns).map(([name, type]) => ({
        name,
        shape: shapeOf(type),
        is_nullable: true,
        comment: `The ${name}.`
      }))
    }
  ],
  views: [],
  macros: [],
  untouched: new Set()
})

const generation = (number: number): Manifest => ({
  format: 1,
  number,
  id: `id ${number}`,
  made_at: `2026-01-0${number}T00:00:00.000Z`,
  made_by: "somebody",
  replaces: number - 1,
  event: {
    ...{ kind: "run", pipeline: "shop", run_id: null, outcome: "published" },
    ...{ rows_loaded: null, went_back_to: null, note: null }
  },
  data_sets: {},
  ingest: { schema: 1, parts: [] }
})

/** The columns of a catalogue whose generations had these columns in turn, and which keeps only the newest. */
const after = Effect.fnUntraced(function* (...all: ReadonlyArray<Columns>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-lake-" })
  const db = yield* DuckDb.memory
  yield* attachCatalogue(db, path.join(folder, "larder.ducklake"), true)
  for (const [at, columns] of all.entries()) {
    const snapshot = yield* beginSnapshot(db, generation(at + 1), definitions(columns))
    yield* endSnapshot(db, snapshot, { databases: { shop: `sha ${at}` }, address: "/lake", message: "" })
    yield* expireSnapshots(db, new Map())
  }
  const [its = []] = [...(yield* columnsByTable(db)).values()]
  return its.map(({ comment, node: { id, name, type } }) => [id, name, type, comment])
})

describe("the columns of a table in the catalogue", () => {
  itWorks("keep their ids, and ids of dropped columns are never reused", () =>
    Effect.gen(function* () {
      const first = { item: "VARCHAR", price: "DECIMAL(18,4)" }
      assert.deepStrictEqual(
        yield* after(
          first,
          { item: "VARCHAR" },
          { item: "VARCHAR" },
          { item: "VARCHAR" },
          { item: "VARCHAR", note: "VARCHAR" }
        ),
        [
          [1, "item", "varchar", "The item."],
          [3, "note", "varchar", "The note."]
        ]
      )
    })
  )
  itWorks("get another id with another type, even of a nested field", () =>
    Effect.gen(function* () {
      const before = { item: "INTEGER", sizes: "STRUCT(width INTEGER, height INTEGER)[]" }
      assert.deepStrictEqual(yield* after(before, { item: "BIGINT", sizes: "STRUCT(width INTEGER)[]" }), [
        [6, "item", "int64", "The item."],
        [7, "sizes", "list", "The sizes."]
      ])
    })
  )
})
