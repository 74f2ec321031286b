/**
 * Tables derived from the entries: an index of each account's entries, and usage. A thread writes them in batches into
 * a separate file, `sums.sqlite`. Updating them with each charge would cost several pages per account, and batches in
 * the ledger's own file would delay charges. `progress` stores the last entry that they include. Later entries, a few
 * seconds' worth, are read directly. The tables can be rebuilt at any time.
 */
import path from "node:path"
import type { Sqlite } from "../../persistence/index.ts"
import { queryNumber, sumsTables } from "./tables.ts"

/** Entries per transaction. With 20,000, an entry takes a fifth of the time and the log space that it takes with 250. */
const batchSize = 20_000

export const dayOfEntry = "substr(occurred_at, 1, 10)"
/** `12 × year + month - 1` of a column that begins with a date. */
export const monthOfDateText = (column: string) =>
  `cast(substr(${column}, 1, 4) as integer) * 12 + cast(substr(${column}, 6, 2) as integer) - 1`
export const monthOfEntry = monthOfDateText("occurred_at")

export const indexedUpTo = "(select sequence from sums.progress)"

/** Charges and refunds of calls that the tables do not include yet, as rows of daily usage. */
export const unsummedUsage = `
  select account_id, ${dayOfEntry} as day, key_id, endpoint,
    case type when 'charge' then 1 when 'refund' then -1 else 0 end as calls, -credits as credits
  from ledger.entry
  where sequence > ${indexedUpTo} and key_id is not null`

/** A refund of a call removes it from the day of its charge. */
export const usageSums =
  "sum(case type when 'charge' then 1 when 'refund' then -1 else 0 end) as calls, -sum(credits) as credits"
const fromBatch = "from ledger.entry where sequence > $1 and sequence <= $2"

/** `columns` are the key columns of the table, each with its expression over an entry. */
const addUsage = (table: string, columns: Readonly<Record<string, string>>) => {
  const key = Object.keys(columns).join(", ")
  return `
  insert into sums.${table} (${key}, calls, credits)
  select ${Object.values(columns).join(", ")}, ${usageSums}
  ${fromBatch} and key_id is not null
  group by ${Object.values(columns).join(", ")}
  on conflict (${key}) do update set calls = calls + excluded.calls, credits = credits + excluded.credits`
}

const accountColumn = { account_id: "account_id" }
const keyColumns = { key_id: "key_id", endpoint: "endpoint" }
const statements = [
  `insert into sums.entry_place (account_id, position, sequence)
  select account_id, position, sequence ${fromBatch} order by account_id, position`,
  addUsage("usage_of_day", { ...accountColumn, day: dayOfEntry, ...keyColumns }),
  addUsage("usage_of_endpoint", { ...accountColumn, day: dayOfEntry, endpoint: "endpoint" }),
  addUsage("usage_of_month", { month: monthOfEntry, ...accountColumn, ...keyColumns })
]

export const readLastEntry = (sqlite: Sqlite): number =>
  queryNumber(sqlite, "select coalesce(max(sequence), 0) from ledger.entry")
export const readProgress = (sqlite: Sqlite): number => queryNumber(sqlite, "select sequence from sums.progress")

/** Creates the tables if there are none. Returns false if they have a different version. */
export const prepareSums = (sqlite: Sqlite): boolean => {
  const version = queryNumber(sqlite, "pragma sums.user_version")
  if (version === 1) return true
  if (version !== 0 || sqlite.all("select 1 from sums.sqlite_schema limit 1").length > 0) return false
  sqlite.transactionOfSums(() => sqlite.exec(`${sumsTables.join(";\n")};\npragma sums.user_version = 1`))
  return true
}

const mismatches = `
  select progress.sequence
  from sums.progress as progress
  left join ledger.entry on entry.sequence = progress.sequence
  where progress.sequence > 0 and entry.hash is not progress.hash`

/** Why these entries cannot be the source of the tables, or undefined: an entry is missing or different. */
export const findProgressProblem = (sqlite: Sqlite): string | undefined => {
  const [mismatch] = sqlite.all(mismatches)
  return mismatch === undefined
    ? undefined
    : `entries were summed up to number ${mismatch.sequence}, which is missing or different; the last entry is ${readLastEntry(sqlite)}. If this ledger replaced a newer one, as after a restore, remove ${path.basename(sqlite.sums ?? "")}`
}

/** Returns the number of the last entry that the tables include. */
export const updateSums = (sqlite: Sqlite, entriesPerBatch: number = batchSize): number => {
  const last = readLastEntry(sqlite)
  for (let reached = readProgress(sqlite); reached < last; ) {
    const from = reached
    reached = Math.min(last, reached + entriesPerBatch)
    const upTo = reached
    sqlite.transactionOfSums(() => {
      for (const statement of statements) sqlite.run(statement, [from, upTo])
      sqlite.run("update sums.progress set sequence = $1, hash = (select hash from ledger.entry where sequence = $1)", [
        upTo
      ])
    })
  }
  return last
}
