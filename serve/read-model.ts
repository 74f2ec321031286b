/** What the server holds of a generation, in memory and in open files, and which data sets it found there. */
import type { Licence } from "@larder/schemas/commodity/records.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { foodsOf } from "@larder/warehouse/foods/of-generation.ts"
import type { Foods } from "@larder/warehouse/foods/open.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { loadCommodities } from "@larder/warehouse/read-models/commodity.ts"
import { loadStorefronts } from "@larder/warehouse/read-models/storefront.ts"
import { Effect } from "effect"
import { loadProvenances } from "./provenance.ts"

const hasTable = (db: DuckDb["Service"], schema: string, name: string) =>
  Effect.map(
    db.rows("select 1 from information_schema.tables where table_schema = $schema and table_name = $name", {
      schema,
      name
    }),
    (rows) => rows.length > 0
  )

/** What it opens is open until the scope ends. */
export const loadReadModel = (layout: Layout, withheldLicences: ReadonlyArray<Licence> = []) =>
  Effect.fn("ReadModel.load")(function* (db: DuckDb["Service"], file: string) {
    const commodities = yield* loadCommodities(db, withheldLicences)
    const hasFoods = yield* hasTable(db, "branded_food", "food")
    const foods: Foods | undefined = hasFoods ? yield* foodsOf(layout, file, db) : undefined
    const hasStorefronts = yield* hasTable(db, "storefront", "store")
    const storefronts = hasStorefronts ? yield* loadStorefronts(db) : undefined
    const dataSets: Readonly<Record<string, boolean>> = {
      commodities: commodities.loaded,
      branded_foods: foods !== undefined,
      storefronts: storefronts !== undefined
    }
    const provenances = yield* loadProvenances(db)
    return { commodities, foods, storefronts, dataSets, provenances }
  })

export type ReadModel = Effect.Success<ReturnType<ReturnType<typeof loadReadModel>>>
