/** What `ingest.freshness` says now, as far as notices need it. */
import { Freshness } from "@larder/schemas"
import { Effect, FileSystem, type Schema, Struct } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { timestampColumn } from "../opened/runs.ts"

const Judged = Freshness.mapFields(Struct.pick(["pipeline", "kind", "subject", "state", "left_out", "late_at", "why"]))
export type Judged = Schema.Schema.Type<typeof Judged>

/** Undefined if nothing was published yet. The catalogue is as new as the last program that needed it. */
export const readFreshness = Effect.fnUntraced(function* ({ catalogue }: Layout) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(catalogue))) return undefined
  const db = yield* DuckDb.readOnlyWithFiles(catalogue)
  return yield* db.all(
    Judged,
    `select pipeline, kind, subject, state, left_out, ${timestampColumn("late_at")}, why
     from ingest.freshness order by pipeline, kind, subject`
  )
}, Effect.scoped)
