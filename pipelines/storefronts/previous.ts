/** What the live generation knows of the stores. */
import { fromLive } from "@larder/warehouse/generation/previous.ts"
import { Effect, Schema } from "effect"
import { type LoadedFrom, originsOf } from "../run/mixture.ts"
import type { RunContext } from "../run/pipeline.ts"

/** What is listed of a store, and what its last read found. */
const KnownStore = Schema.Struct({
  domain: Schema.String,
  outcome: Schema.String,
  listed: Schema.Int,
  found: Schema.Int
})
export type KnownStore = typeof KnownStore.Type

export interface Previous {
  readonly stores: ReadonlyMap<string, KnownStore>
  readonly origins: ReadonlyArray<LoadedFrom>
}

const nothingYet: Previous = { stores: new Map(), origins: [] }

const stores = `
  with latest as (
    select store_id, arg_max(products_read, read_at)::integer as found from storefront.store_read group by store_id
  ),
  listing as (
    select store_id, count(*)::integer as listed from storefront.sighting where kind = 'product' and is_listed group by store_id
  )
  select domain, outcome, coalesce(listed, 0) as listed, coalesce(found, 0) as found
  from storefront.store
  left join latest using (store_id)
  left join listing using (store_id)`

export const readPrevious = ({ layout }: RunContext) =>
  fromLive(layout, { schema: "storefront", name: "store" }, nothingYet, (db) =>
    Effect.all({
      stores: Effect.map(db.all(KnownStore, stores), (rows) => new Map(rows.map((row) => [row.domain, row]))),
      origins: originsOf(db, "storefronts")
    })
  )
