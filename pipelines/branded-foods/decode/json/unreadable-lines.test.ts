import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { DuckDb } from "@larder/warehouse"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { removeUnreadableLines } from "./check-lines.ts"
import { readChunkSql } from "./keys.ts"

const foodAt = (line: number) => `{"line":${line},"fdcId":${line},"description":"FOOD ${line}"}`
const duplicateKeyAt = (line: number) => `{"line":${line},"footnote":"${line}","footnote":"B"}`

/** A chunk of nine foods from line 2 on; those at `lines` have a duplicate key. */
const chunkWith = (lines: ReadonlyArray<number>) =>
  [2, 3, 4, 5, 6, 7, 8, 9, 10].map((line) => (lines.includes(line) ? duplicateKeyAt(line) : foodAt(line)))

const Read = Schema.Struct({ line: Schema.Int })

const removeLines = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const db = yield* DuckDb
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-unreadable-" })
  const file = `${folder}/foods-00001.ndjson`
  yield* fs.writeFileString(file, lines.map((line) => `${line}\n`).join(""))
  const rejects = yield* removeUnreadableLines(db, file)
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["foods-00001.ndjson"])
  yield* db.run(readChunkSql(file))
  const read = yield* db.all(Read, "select line::integer as line from chunk order by line")
  return { rejects, remaining: yield* fs.readFileString(file), read: read.map(({ line }) => line) }
})

const services = Layer.mergeAll(NodeServices.layer, Layer.effect(DuckDb, DuckDb.memory))

layer(services)("records that only DuckDB cannot read", (it) => {
  it.effect.each([
    ["at the beginning", [2]],
    ["in the middle", [6]],
    ["at the end", [10]],
    ["several", [2, 3, 7, 10]],
    ["all", [2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ["none", []]
  ] as const)("are removed from their chunk and reported with their lines in the release: %s", ([, lines]) =>
    Effect.gen(function* () {
      const chunk = chunkWith(lines)
      const { remaining, read, rejects } = yield* removeLines(chunk)
      const recordAt = (line: number) => `{"footnote":"${line}","footnote":"B"}`
      assert.deepStrictEqual(
        rejects,
        lines.map((line) => ({
          line,
          reason: `DuckDB cannot read the record: Object ${recordAt(line)} has duplicate key "footnote"`,
          payload: recordAt(line)
        }))
      )
      const others = chunk.filter((_, index) => !lines.some((line) => line === index + 2))
      assert.strictEqual(remaining, others.map((line) => `${line}\n`).join(""))
      assert.lengthOf(read, others.length)
    })
  )

  it.effect("are found among records of 3 MB, and reported with their first 2,000 characters", () =>
    Effect.gen(function* () {
      const long = `{"line":3,"fdcId":3,"fdcId":4,"ingredients":"${"X".repeat(3e6)}"}`
      const { read, rejects } = yield* removeLines([foodAt(2), long, `{"line":4,"ingredients":"${"Y".repeat(3e6)}"}`])
      assert.deepStrictEqual(read, [2, 4])
      assert.deepStrictEqual(
        rejects.map(({ line, payload }) => [line, payload.slice(0, 22), payload.length]),
        [[3, '{"fdcId":3,"fdcId":4,"', 2000]]
      )
      assert.match(rejects[0]?.reason ?? "", /has duplicate key "fdcId"$/)
    })
  )

  it.effect("are reported without the name of the chunk", () =>
    Effect.gen(function* () {
      const { rejects } = yield* removeLines([foodAt(2), '{"line":3,"description":"A" "B"}', foodAt(4)])
      assert.deepStrictEqual(rejects, [
        {
          line: 3,
          reason: "DuckDB cannot read the record: Malformed JSON: unexpected character. ",
          payload: '{"description":"A" "B"}'
        }
      ])
    })
  )
})
