/** Measures the time in which DuckDB finds the first 50 labels that contain a text. */
import { literal } from "@larder/warehouse"
import { Schema } from "effect"
import type { Warehouse } from "./warehouse.ts"

const Row = Schema.Struct({ fdc_id: Schema.Int })

export interface Scan {
  readonly milliseconds: number
  readonly ids: ReadonlyArray<number>
}

/** One scan after another. The texts contain no `%` and `_`. */
export const measureScans = async ({ all }: Warehouse, column: string, texts: ReadonlyArray<string>) => {
  const scans: Array<Scan> = []
  for (const text of texts) {
    const startedAt = performance.now()
    const rows = await all(
      Row,
      `select fdc_id from branded_food.current_food where ${column} ilike ${literal(`%${text}%`)} order by fdc_id limit 50`
    )
    scans.push({ milliseconds: performance.now() - startedAt, ids: rows.map(({ fdc_id }) => fdc_id) })
  }
  return scans
}
