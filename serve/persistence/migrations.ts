/**
 * The tables of a SQLite file, as a numbered list of migrations. A new version appends to the list, and a file stores
 * how many it has applied. Each migration is applied completely or not at all.
 */
import type { Sqlite } from "./sqlite.ts"

/** The statements of each migration; numbers start at 1, in the order of the list. */
type Migrations = ReadonlyArray<string>

const readVersion = (sqlite: Sqlite) => Number(sqlite.all("pragma user_version")[0]?.user_version)
const isEmpty = (sqlite: Sqlite) => sqlite.all("select 1 from sqlite_schema limit 1").length === 0

/** Why the file cannot be used, or undefined once it has all tables. */
export const runMigrations = (sqlite: Sqlite, migrations: Migrations): string | undefined => {
  const applied = readVersion(sqlite)
  if (applied === 0 && !isEmpty(sqlite)) return "it is a SQLite file of another program"
  if (applied > migrations.length) {
    return `a newer version of Larder has written it: it knows ${applied} migrations, and this version knows ${migrations.length}`
  }
  for (const [index, statements] of migrations.entries()) {
    if (index < applied) continue
    sqlite.transaction(() => sqlite.exec(`${statements};\npragma user_version = ${index + 1}`))
  }
  return undefined
}
