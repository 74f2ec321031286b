/** Compares the stores of a home with their rebuild from the archive: products, ids, times and history. */
import { expect } from "vitest"
import { jsonOf } from "./dairy-reads.ts"
import { query, rebuildFrom } from "./ingesting.ts"

const tables = [
  ["store", "store_id"],
  ["product", "product_id"],
  ["collection", "collection_id"],
  ["sighting", "kind, id"],
  ["last_seen", "kind, id"],
  ["store_status", "store_id"],
  ["variant_change", "variant_id, seen_at"],
  ["(select * exclude (seconds) from ingest.store_read)", "run_id, store_id"],
  ["listing", "store_id, place"],
  ["collection_listing", "store_id, place"]
] as const

const selectRows = ([table, order]: (typeof tables)[number]) =>
  table.startsWith("(") ? `select to_json(t)::varchar as row from ${table} t order by ${order}` : jsonOf(table, order)

export const expectSameStoresRebuilt = async (home: string) => {
  const rebuilt = await rebuildFrom(home)
  const [before, now] = await Promise.all([home, rebuilt].map((folder) => query(folder, ...tables.map(selectRows))))
  for (const [index, [table]] of tables.entries()) {
    expect(before?.[index]?.length, table).toBeGreaterThan(0)
    expect(now?.[index], table).toEqual(before?.[index])
  }
}
