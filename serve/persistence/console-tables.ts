/** The console's tables and indexes, in the schema `console`; one list for SQLite and PostgreSQL. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"

export const allTables: ReadonlyArray<string> = [
  "person",
  "removed_person",
  "session",
  "known_browser",
  "invitation",
  "customer",
  "card_to_forget",
  "recharge",
  "payment",
  "reversal",
  "request",
  "usage_of_status",
  "status_of_endpoint",
  "simulated"
]

const indexes = {
  person_of_account: "console.person (account_id, email)",
  session_of_person: "console.session (person_id)",
  known_browser_of_person: "console.known_browser (person_id)",
  payment_of_account: "console.payment (account_id, created_at desc, id desc)",
  open_payment: "console.payment (processor, kind, id) where state = 'open'",
  reversal_of_payment: "console.reversal (payment_id)",
  request_of_account: "console.request (account_id, occurred_at desc)",
  usage_of_key: "console.usage_of_status (account_id, key_id, day)",
  simulated_of_kind: "console.simulated (kind, id)"
}

/** The first of the numbered migrations of each database. */
export const consoleTables: ReadonlyArray<string> = [
  ...allTables.map((name) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()),
  ...Object.entries(indexes).map(([index, columns]) => `create index ${index} on ${columns}`)
]

/**
 * A backup is older than recent changes. A restored session would be valid even if its browser has signed out or its
 * person has changed the password, and a used link would work again. So people sign in again and are invited again;
 * their browsers are recognised from then on.
 */
export const neverRestored: ReadonlyArray<string> = ["session", "known_browser", "invitation"]
export const backedUpTables: ReadonlyArray<string> = allTables.filter((name) => !neverRestored.includes(name))

/** Row counts of the given tables, ordered by name; works on both databases. */
export const TableCount = Schema.Struct({ name: Schema.String, rows: Schema.Int })
export type TableCount = typeof TableCount.Type
export const selectCounts = (names: ReadonlyArray<string>): string => {
  const counts = names.map(
    (name) => `select '${name}' as name, cast(count(*) as double precision) as rows from console.${name}`
  )
  return `${counts.join(" union all ")} order by name`
}
