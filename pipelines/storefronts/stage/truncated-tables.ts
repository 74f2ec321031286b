/**
 * Finds tables that may be cut off in their last cell. Such a table ends within a line, but many intact feeds do so
 * too. So it counts as cut off only if the previous file of the store ended with a complete line. A cut at a line end
 * cannot be detected here: see `orShrunk`.
 */
import { literal } from "@larder/warehouse/duckdb.ts"
import { fromLive } from "@larder/warehouse/live/previous.ts"
import { storefront } from "@larder/warehouse/tables/storefront/data-set.ts"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import type { RunContext } from "../../run/pipeline.ts"
import type { Done } from "../read-store.ts"
import { tableEndOf } from "../source/crawl/feed-file.ts"

const Known = Schema.Struct({ domain: Schema.String, run_id: Schema.String, url: Schema.String })

/** The last run that read something from each store, and all addresses that its feed has had. */
const lastFiles = (domains: ReadonlyArray<string>) => `
  select domain, latest.run_id, file.url
  from (
    select store_id, arg_max(run_id, read_at) filter (fetch_status <> 'failed') as run_id
    from ingest.store_read group by store_id
  ) latest
  join storefront.store using (store_id)
  join (select distinct feed, url from ingest.raw_file where pipeline = 'storefronts') file on feed = 'store/' || domain
  where latest.run_id is not null and domain in (${domains.map(literal).join(", ")})`

/** Domains of the stores whose table is cut off. A table counts as complete if the archive holds no earlier one. */
export const cutTables = Effect.fnUntraced(function* ({ layout }: RunContext, done: ReadonlyArray<Done>) {
  const archive = yield* Archive
  const domains = done.flatMap(({ read, store }) => (read.table_end === "within a line" ? [store.domain] : []))
  if (domains.length === 0) return new Set<string>()
  const known = yield* fromLive(layout, storefront, [], (db) => db.all(Known, lastFiles(domains)))
  const cut = new Set<string>()
  for (const { domain, run_id, url } of known) {
    const before = yield* archive.earlier(run_id, url)
    if (before === undefined) continue
    const end = yield* Effect.orElseSucceed(tableEndOf(before), () => null) // the archive was cleared
    if (end === "with a line") cut.add(domain)
  }
  return cut
})
