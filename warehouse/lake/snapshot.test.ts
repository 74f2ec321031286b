import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Manifest } from "../generation/manifest.ts"
import { attachCatalogue, readTables } from "./ducklake.ts"
import { expireSnapshots } from "./retention.ts"
import { beginSnapshot, endSnapshot } from "./snapshot.ts"

/** Columns by their names, with their types. */
type Columns = Readonly<Record<string, string>>

const define = (columns: Columns) =>
  [
    `create or replace table shop.price (${Object.entries(columns).map((column) => column.join(" "))})`,
    "comment on table shop.price is 'Prices.'",
    ...Object.keys(columns).map((name) => `comment on column shop.price.${name} is 'The ${name}.'`)
  ].join(";\n")

const makeManifest = (number: number): Manifest => ({
  format: 2,
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

/** The columns of a catalogue after generations with these columns. Only the newest snapshot is kept. */
const readColumnsAfter = Effect.fnUntraced(function* (...definitions: ReadonlyArray<Columns>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-lake-" })
  const db = yield* DuckDb.memory
  yield* attachCatalogue(db, path.join(folder, "larder.ducklake"), true)
  yield* db.run("create schema shop")
  for (const [index, columns] of definitions.entries()) {
    yield* db.run(define(columns))
    const snapshot = yield* beginSnapshot(db, makeManifest(index + 1), new Set())
    yield* endSnapshot(db, snapshot, { shop: `sha ${index}` }, "/lake", "")
    yield* expireSnapshots(db, new Map())
  }
  const table = (yield* readTables(db)).get("shop.price")
  return table?.columns.map(({ comment, field: { id, name, type } }) => [id, name, type, comment])
})

describe("the columns of a table in the catalogue", () => {
  itLive("keep their ids, and do not reuse ids of dropped columns", () =>
    Effect.gen(function* () {
      const first = { item: "VARCHAR", price: "DECIMAL(18,4)" }
      assert.deepStrictEqual(
        yield* readColumnsAfter(
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
  itLive("get a new id if their type changes, even that of a nested field", () =>
    Effect.gen(function* () {
      const before = { item: "INTEGER", sizes: "STRUCT(width INTEGER, height INTEGER)[]" }
      assert.deepStrictEqual(yield* readColumnsAfter(before, { item: "BIGINT", sizes: "STRUCT(width INTEGER)[]" }), [
        [6, "item", "int64", "The item."],
        [7, "sizes", "list", "The sizes."]
      ])
    })
  )
})
