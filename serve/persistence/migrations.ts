/**
 * Creates and updates the tables of a SQLite file. A new version appends migrations to the list, and a file stores how many
 * were applied to it. Each migration is applied completely or not at all.
 */
import type { Sqlite } from "./sqlite.ts"

/** Returns why the file cannot be used, or undefined once it has all tables. */
export const runMigrations = (sqlite: Sqlite, migrations: ReadonlyArray<string>): string | undefined => {
  const applied = Number(sqlite.all("pragma user_version")[0]?.user_version)
  const isEmpty = sqlite.all("select 1 from sqlite_schema limit 1").length === 0
  if (applied === 0 && !isEmpty) return "it is a SQLite file of another program"
  if (applied > migrations.length) {
    return `a newer version of Larder has written it, with ${applied} migrations; this version has ${migrations.length}`
  }
  for (const [index, statements] of migrations.entries()) {
    if (index < applied) continue
    sqlite.transaction(() => sqlite.exec(`${statements};\npragma user_version = ${index + 1}`))
  }
  return undefined
}
