/** Creates the tables of a SQLite file, and recognises files of other programs and of other versions of Larder. */
import type { Sqlite } from "./sqlite.ts"

/** Increased when a table changes. Before the first release, files with an earlier layout are refused, not converted. */
const layout = 7

export const earlierVersion =
  "an earlier version of Larder has written it, and no version converts it: use a new LARDER_HOME"

/** Returns why the file cannot be used, or undefined once it has all tables. */
export const prepareLayout = (sqlite: Sqlite, tables: string): string | undefined => {
  const found = Number(sqlite.all("pragma user_version")[0]?.user_version)
  if (found === layout) return undefined
  if (found > layout) return "a newer version of Larder has written it"
  if (found > 0) return earlierVersion
  if (sqlite.all("select 1 from sqlite_schema limit 1").length > 0) return "it is a SQLite file of another program"
  sqlite.transaction(() => sqlite.exec(`${tables};\npragma user_version = ${layout}`))
  return undefined
}
