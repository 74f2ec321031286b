/**
 * The tables whose changed rows are appended to the ledger's chain, with their columns. Used with SQLite and
 * PostgreSQL. Worker threads load this file, so it must not import anything.
 */
export const recordedColumns = {
  account: ["id", "name", "created_at"],
  api_key: [
    "id",
    "account_id",
    "name",
    "scopes",
    "budget_credits",
    "sha256",
    "last4",
    "former_sha256",
    "former_last4",
    "former_expires_at",
    "created_at",
    "revoked_at",
    "expires_at",
    "revision"
  ],
  payment: [
    "id",
    "account_id",
    "kind",
    "cents",
    "state",
    "processor",
    "reference",
    "customer",
    "card",
    "problem",
    "card_brand",
    "card_last4",
    "created_by",
    "created_at",
    "asked_at",
    "settled_at"
  ]
} as const
export type RecordedTable = keyof typeof recordedColumns
export const recordedTables = Object.keys(recordedColumns) as ReadonlyArray<RecordedTable> // `Object.keys` loses the literal types

/** The noun for a row of each table in messages. */
export const recordNouns = { account: "account", api_key: "key", payment: "payment" } satisfies Record<
  RecordedTable,
  string
>
