/**
 * The console's tables inside a copy of the ledger, as the schema `console` beside the ledger's tables: a backup is one
 * file. Whoever opens a restored ledger takes them out again, into the file that they are kept in.
 */
import { existsSync, renameSync, rmSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { syncDirectory, syncFile } from "../ledger/files.ts"
import { copyRows, newTables } from "./copies.ts"
import { consoleFileIn } from "./embedded.ts"
import { allTables, backedUp, countsOf, definitions, TableCount } from "./tables.ts"

type Db = DuckDb["Service"]

/** Says whether the file then holds `expected`. Nobody has one of the two files open; the ledger's is whole afterwards. */
export const pack = Effect.fnUntraced(function* (
  ledgerFile: string,
  consoleFile: string,
  expected: ReadonlyArray<TableCount>
) {
  const db = yield* DuckDb.readWrite(ledgerFile)
  yield* db.run(definitions.join(";\n"))
  yield* copyRows(db, consoleFile, { names: backedUp, direction: "out of the file" })
  yield* db.run("checkpoint")
  const byName = (counts: ReadonlyArray<TableCount>) => new Map(counts.map(({ name, rows }) => [name, rows]))
  return isDeepStrictEqual(byName(yield* db.all(TableCount, countsOf(backedUp))), byName(expected))
}, Effect.scoped)

const Name = Schema.Struct({ name: Schema.String })
const packedTables = `
  select table_name as name from duckdb_tables()
  where database_name = current_database() and schema_name = 'console'`

/** Recharges since the backup are not in it, nor who has switched them off since: no card is charged before its owner agrees. */
const switchRechargesOff = `
  update console.recharge
  set is_on = false, off_reason = 'The service was restored from a backup. Check the balance, then switch it on again.'
  where is_on`

/**
 * Takes the tables out of a restored `ledger.duckdb`. The file that keeps them appears whole, and they leave the ledger
 * only then: whoever is killed meanwhile does it again. Tables that are kept already are newer, and stay as they are.
 */
export const unpack = Effect.fnUntraced(function* (db: Db, directory: string) {
  const packed = (yield* db.all(Name, packedTables)).map(({ name }) => name)
  if (packed.length === 0) return
  const file = consoleFileIn(directory)
  if (!existsSync(file)) {
    const part = path.join(directory, "console-tables.part")
    for (const old of [part, `${part}.wal`]) rmSync(old, { force: true })
    yield* newTables(part)
    yield* db.run(switchRechargesOff)
    yield* copyRows(db, part, { names: allTables.filter((name) => packed.includes(name)), direction: "into the file" })
    yield* Effect.try({
      try: () => {
        syncFile(part)
        renameSync(part, file)
        syncDirectory(directory)
      },
      catch: (cause) => cause
    })
  }
  yield* db.run("drop schema console cascade; checkpoint")
})
