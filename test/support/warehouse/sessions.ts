/** An analyst's sessions, in other time zones: no answer may depend on that. */
import { DuckDb, literal, type Row } from "@larder/warehouse"
import { Effect, FileSystem } from "effect"

export const zones = ["UTC", "America/Chicago", "Asia/Kolkata"] as const

/** The rows of each query, in a session of each time zone. */
export const inEachZone = Effect.fnUntraced(function* (file: string, queries: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-session-" })
  const db = yield* DuckDb.readWrite(`${folder}/own.duckdb`) // its one connection is the session
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  const answers = new Map<string, ReadonlyArray<ReadonlyArray<Row>>>()
  for (const zone of zones) {
    yield* db.run(`set TimeZone = ${literal(zone)}`)
    answers.set(zone, yield* Effect.forEach(queries, (sql) => db.rows(sql)))
  }
  return answers
}, Effect.scoped)
