/** Accounts, keys, credits and their chain, in SQLite or in PostgreSQL. */
export {
  type AccountSummary,
  Administration,
  AdministrationError,
  type KeySummary,
  type NewKey,
  type Output,
  OverlapHours,
  operations,
  PrintableText,
  Scopes,
  ServerUnreachable,
  type UsageOfDay,
  type Verification
} from "./administration.ts"
export { readBearerKey } from "./api-key.ts"
export { Account, Entry } from "./chain/records.ts"
export { embeddedConsole } from "./embedded/embedded-console.ts"
export { openLedgerInFile, openServerLedger } from "./embedded/embedded-ledger.ts"
export { LedgerFile, openLedgerFile } from "./embedded/ledger-file.ts"
export { LedgerUnavailable } from "./errors.ts"
export { flushFile, flushFolder } from "./files.ts"
export { type AdmittedCall, type CaptureRefusal, Ledger, type LedgerAccess } from "./ledger.ts"
export { creditsOf, usdOf } from "./money.ts"
export { administerPostgres } from "./postgres/administer-postgres.ts"
export { moveToPostgres } from "./postgres/migration.ts"
export { openPostgresLedger } from "./postgres/postgres-ledger.ts"
export { connect } from "./postgres/sql/database.ts"
export { postgresConsole } from "./postgres/sql/postgres-console.ts"
export { randomString } from "./random-string.ts"
export { isDebit } from "./rules/adjustments.ts"
export { maxKeys } from "./rules/decisions.ts"
export type { ApiKeyView } from "./rules/ledger-state.ts"
export type { SummedUsage, UsageSum } from "./summed-usage.ts"
export { parseTypedTimestamp } from "./typed-timestamp.ts"
export { timestampOf } from "./utc-calendar.ts"
