/** What a thread of a test runs. */
import type { Sqlite } from "@larder/serve/persistence"

export const count = (sqlite: Sqlite, more: number): number =>
  Number(sqlite.all("select count(*) + $1 as n from t", [more])[0]?.n)
export const fail = (sqlite: Sqlite): void => sqlite.exec("select nonsense")
