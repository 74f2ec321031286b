/** What the live generation knows of the stores. */
import { fromLive } from "@larder/warehouse/generation/previous.ts"
import { Effect, Schema } from "effect"
import { type LoadedFrom, originsOf } from "../run/mixture.ts"
import type { RunContext } from "../run/pipeline.ts"

const KnownStore = Schema.Struct({ domain: Schema.String, outcome: Schema.String, listed: Schema.Int })
type KnownStore = typeof KnownStore.Type

export interface Previous {
  readonly stores: ReadonlyMap<string, KnownStore>
  readonly origins: ReadonlyArray<LoadedFrom>
}

const nothingYet: Previous = { stores: new Map(), origins: [] }

const stores = `
  select domain, outcome, count(id)::integer as listed
  from storefront.store
  left join storefront.sighting on sighting.store_id = store.store_id and sighting.kind = 'product' and is_listed
  group by all`

export const readPrevious = ({ layout }: RunContext) =>
  fromLive(layout, { schema: "storefront", name: "store" }, nothingYet, (db) =>
    Effect.all({
      stores: Effect.map(db.all(KnownStore, stores), (rows) => new Map(rows.map((row) => [row.domain, row]))),
      origins: originsOf(db, "storefronts")
    })
  )
