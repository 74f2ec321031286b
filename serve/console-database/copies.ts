/** Copies of the console's tables between two DuckDB files: in SQL, whatever their size. */
import { DuckDb, type DuckDbError, identifier, literal } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { definitions } from "./tables.ts"

type Db = DuckDb["Service"]

/** A new file with empty tables, whole and closed. */
export const newTables = (file: string) =>
  DuckDb.readWrite(file).pipe(
    Effect.flatMap((db) => db.run(definitions.join(";\n"))),
    Effect.scoped
  )

/**
 * Copies rows between the tables of an open database and those of a file that nobody has open: all of them or none. The
 * file is whole and closed afterwards. Columns go by their names; one that the older of two versions lacks is left empty.
 */
export const copyRows = (
  db: Db,
  file: string,
  {
    direction,
    names
  }: { readonly names: ReadonlyArray<string>; readonly direction: "into the file" | "out of the file" }
): Effect.Effect<void, DuckDbError> => {
  const inserts = names.map((name) => {
    const [here, there] = [`console.${identifier(name)}`, `attached.console.${identifier(name)}`]
    return direction === "into the file"
      ? `insert into ${there} by name from ${here}`
      : `insert into ${here} by name from ${there}`
  })
  return db
    .run(`attach ${literal(file)} as attached`)
    .pipe(
      Effect.andThen(db.run(["begin", ...inserts, "commit"].join(";\n"))),
      Effect.andThen(direction === "into the file" ? db.run("checkpoint attached") : Effect.void),
      Effect.ensuring(Effect.ignore(db.run("detach attached")))
    )
}
