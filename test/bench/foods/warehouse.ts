/** Reads from the database of a data set beside the server. */
import { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"

export interface Warehouse {
  readonly all: <S extends Schema.Codec<unknown, unknown>>(row: S, sql: string) => Promise<ReadonlyArray<S["Type"]>>
}

export const withWarehouse = <A>(database: string, use: (warehouse: Warehouse) => Promise<A>): Promise<A> =>
  DuckDb.readOnly(database).pipe(
    Effect.flatMap((db) => Effect.promise(() => use({ all: (row, sql) => Effect.runPromise(db.all(row, sql)) }))),
    Effect.scoped,
    Effect.runPromise
  )

const Ids = Schema.Struct({ ids: Schema.Array(Schema.Int) })
/** Of all label versions. One list: rows of two million would take a gigabyte. */
export const allIds = async ({ all }: Warehouse) => {
  const [found] = await all(Ids, "select list(fdc_id) as ids from branded_food.food")
  return Int32Array.from(found?.ids ?? [])
}
