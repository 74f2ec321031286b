/** The console's tables and indexes, in the schema `console`; one list for SQLite and PostgreSQL. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import type { Sqlite } from "./sqlite.ts"

export const allTables: ReadonlyArray<string> = [
  "person",
  "removed_person",
  "session",
  "known_browser",
  "invitation",
  "form_secret",
  "customer",
  "card_to_forget",
  "recharge",
  "low_balance",
  "payment",
  "reversal",
  "request",
  "usage_of_status",
  "status_of_endpoint",
  "notified_state",
  "notifier",
  "mailed_link",
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

export const consoleTables: ReadonlyArray<string> = [
  ...allTables.map((name) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()),
  ...Object.entries(indexes).map(([index, columns]) => `create index ${index} on ${columns}`)
]

/**
 * A restored session would be valid even if its browser has signed out or its person has changed the password, and a
 * restored link would work again after its use. So people sign in again and are invited again. A backup must not let its
 * readers sign forms. After a
 * restore, the first notice has everything that is late, and the first mails every balance that is low.
 */
const neverRestored: ReadonlyArray<string> = [
  ...["session", "known_browser", "invitation", "form_secret"],
  ...["notified_state", "notifier", "mailed_link"]
]
export const backedUpTables: ReadonlyArray<string> = allTables.filter((name) => !neverRestored.includes(name))

/**
 * A backup lacks later recharges, and a customer may have switched auto-recharge off later. So auto-recharge is off after
 * a restore, and no card is charged before the customer agrees.
 */
const switchRechargesOff = `
  update console.recharge
  set is_on = false, off_reason = 'The service was restored from a backup. Check the balance, then switch it on again.'
  where is_on`

/** Removes from a copy what must not be restored, overwriting it in the file, and switches auto-recharge off. */
export const makeRestorable = (copy: Sqlite): void => {
  copy.exec("pragma secure_delete = on")
  copy.transaction(() => {
    for (const name of neverRestored) copy.run(`delete from console.${name}`)
    copy.run(switchRechargesOff)
  })
}

/** Tables to which a server writes when it starts, even before anyone uses it. */
export const writtenAtStart: ReadonlyArray<string> = ["simulated", "notified_state", "notifier"]

export const TableCount = Schema.Struct({ name: Schema.String, rows: Schema.Int })
export type TableCount = typeof TableCount.Type
/** Selects the row counts of these tables, ordered by name; works on both databases. */
export const selectCounts = (names: ReadonlyArray<string>): string => {
  const counts = names.map(
    (name) => `select '${name}' as name, cast(count(*) as double precision) as rows from console.${name}`
  )
  return `${counts.join(" union all ")} order by name`
}
