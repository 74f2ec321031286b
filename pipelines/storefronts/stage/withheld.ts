/**
 * Removes the rows of reads that are not accepted. A read proves untrustworthy only after all of it was read, and by
 * then its rows are staged. They are deleted and count as rejected, with one reject for all rows of a store.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { type Done, feedOf } from "../read-store.ts"
import { isTaken } from "../source/crawl/outcome.ts"
import { tables } from "./stage-rows.ts"

const reject =
  (run_id: string) =>
  ({ read, rows_read, rows_rejected, store }: Done) =>
    `
  insert into ingest.reject
  select 'storefronts', ${literal(feedOf(store))}, ${literal(run_id)}, min(raw_sha256), 0,
    ${literal(`nothing of this read is taken; rows: ${rows_read - rows_rejected}`)},
    ${literal(read.detail ?? read.outcome)}
  from feed.behind where domain = ${literal(store.domain)}`

/** Returns the same reads; all rows of those that are not accepted count as rejected. */
export const withhold = Effect.fnUntraced(function* (db: DuckDb["Service"], run_id: string, done: ReadonlyArray<Done>) {
  const withheld = new Set(done.filter((one) => !isTaken(one.read) && one.rows_read > 0))
  if (withheld.size === 0) return done
  const staged = [...withheld].filter(({ rows_read, rows_rejected }) => rows_read > rows_rejected)
  yield* Effect.forEach(staged.map(reject(run_id)), (sql) => db.run(sql), { discard: true })
  const domains = [...withheld].map(({ store }) => literal(store.domain)).join(", ")
  yield* db.run(tables.map((table) => `delete from feed.${table} where domain in (${domains})`).join("; "))
  return done.map((one) => (withheld.has(one) ? { ...one, rows_rejected: one.rows_read } : one))
})
