/** Queries the database of a data set, which a server may have open. */
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
/** Ids of all label versions, as one list: two million rows would take a gigabyte. */
export const listIds = async ({ all }: Warehouse) => {
  const [row] = await all(Ids, "select list(fdc_id) as ids from branded_food.food")
  return Int32Array.from(row?.ids ?? [])
}
