/** What `ledger.duckdb` keeps beside the records: sums of entries, so that nobody adds them up from the beginning. */
import { Day, Timestamp } from "@larder/schemas/dates.ts"
import { Schema } from "effect"
import { Entry } from "../records.ts"

const text = (description: string) => Schema.String.annotate({ description })
const count = (description: string) => Schema.Int.annotate({ description })

export const SnapshotRow = Schema.Struct({
  sequence: count("Number of the last entry that the snapshot covers: `entry.sequence`."),
  taken_at: Timestamp.annotate({ description: "When the snapshot was taken, in UTC." }),
  digest: text("SHA-256 in hexadecimal over `sequence` and the rows of `snapshot_account` and `snapshot_spending`.")
}).annotate({
  identifier: "snapshot",
  description:
    "One row, or none in a small ledger: up to which entry sums are kept. A start adds up the entries after it and no others."
})

export const SnapshotAccount = Schema.Struct({
  account_id: Entry.fields.account_id,
  position: count("Place of the account's last entry that the snapshot covers: `entry.position`."),
  balance: count("Balance of the account after that entry, in credits."),
  hash: text("Hash of that entry: `entry.hash`.")
}).annotate({
  identifier: "snapshot_account",
  description: "Where the accounts had arrived when the snapshot was taken."
})

export const SnapshotSpending = Schema.Struct({
  key_id: text("Key that was charged: `api_key.id`."),
  month: count("UTC month, counted from the year 0: twelve times the year, plus 0 for January to 11 for December."),
  spent: count("Credits charged to the key in the month, less those given back."),
  budget: count("Highest budget of the key among these charges, in credits: never below `spent`.")
}).annotate({
  identifier: "snapshot_spending",
  description: "What keys had spent, month by month, when the snapshot was taken."
})

export const UsageRow = Schema.Struct({
  day: Day.annotate({ description: "UTC day of the entries' `entry.occurred_at`." }),
  account_id: Entry.fields.account_id,
  key_id: text("Key that was charged: `api_key.id`."),
  endpoint: text("Endpoint that was called, such as `/v1/commodities/prices`."),
  calls: count("Charged calls, less those given back."),
  credits: count("Credits charged for them."),
  key_hash: count("A number made of `key_id`, by which the rows of one key are found without reading all the others.")
}).annotate({
  identifier: "usage_of_day",
  description: "Charged calls per UTC day, key and endpoint: sums of `entry`, kept when entries are added."
})

const { account_id, calls, credits, day, endpoint, key_id } = UsageRow.fields

export const UsageOfEndpoint = Schema.Struct({ day, account_id, endpoint, calls, credits }).annotate({
  identifier: "usage_of_endpoint",
  description: "Sums of `usage_of_day`, of all keys together."
})

export const UsageOfMonth = Schema.Struct({
  month: SnapshotSpending.fields.month,
  account_id,
  key_id,
  endpoint,
  calls,
  credits
}).annotate({
  identifier: "usage_of_month",
  description: "Sums of `usage_of_day`, of all days of a UTC month together."
})
