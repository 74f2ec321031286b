/** What DuckDB itself takes for the first 50 labels that contain a text. */
import { literal } from "@larder/warehouse"
import { Schema } from "effect"
import type { Warehouse } from "./warehouse.ts"

const Found = Schema.Struct({ fdc_id: Schema.Int })

export interface Scan {
  readonly milliseconds: number
  readonly ids: ReadonlyArray<number>
}

/** One after the other; the texts hold no `%` and `_`. */
export const scansOf = async ({ all }: Warehouse, column: string, texts: ReadonlyArray<string>) => {
  const scans: Array<Scan> = []
  for (const text of texts) {
    const startedAt = performance.now()
    const found = await all(
      Found,
      `select fdc_id from branded_food.current_food where ${column} ilike ${literal(`%${text}%`)} order by fdc_id limit 50`
    )
    scans.push({ milliseconds: performance.now() - startedAt, ids: found.map(({ fdc_id }) => fdc_id) })
  }
  return scans
}
