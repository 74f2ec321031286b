import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"

const Count = Schema.Struct({ rows: Schema.Int })

/** Counts rows. `from` is the part of a query that begins with `from`. */
export const countRows = (db: DuckDb["Service"], from: string) =>
  Effect.map(db.all(Count, `select count(*)::integer as rows ${from}`), ([row]) => row?.rows ?? 0)
