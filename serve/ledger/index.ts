/** Accounts, keys, credits and their chain, in SQLite or in PostgreSQL. */
export {
  type AccountSummary,
  Administration,
  AdministrationError,
  BackupFailed,
  type Booking,
  type Input,
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
export { fingerprint, hasValidChecksum, last4, newApiKey, readBearerKey } from "./api-key.ts"
export {
  type ChainHead,
  chainEntries,
  type Draft,
  emptyHead,
  findBreak,
  hashEntry
} from "./chain/chain.ts"
export { Account, type ApiKey, Entry, entryTypes, plainKey } from "./chain/records.ts"
export { readEntriesAfter } from "./embedded/checks/entry-checks.ts"
export { verifyFile } from "./embedded/checks/verification.ts"
export { embeddedConsole } from "./embedded/embedded-console.ts"
export {
  openEmbeddedLedger,
  openLedgerInFile,
  openLedgerOver,
  openServerLedger
} from "./embedded/embedded-ledger.ts"
export { type LedgerStore, openEmbeddedStore } from "./embedded/embedded-store.ts"
export { LedgerFile, ledgerPath, openLedgerFile } from "./embedded/ledger-file.ts"
export { writeMigrationMark } from "./embedded/migration-mark.ts"
export { readProgress, updateSums } from "./embedded/progress.ts"
export { prepareGroupWrite } from "./embedded/write-group.ts"
export { LedgerUnavailable } from "./errors.ts"
export { flushFile, flushFolder } from "./files.ts"
export { type AdmittedCall, Ledger, type LedgerAccess } from "./ledger.ts"
export { creditsOf, usdOf } from "./money.ts"
export { administerPostgres } from "./postgres/administer.ts"
export { type DecisionEvent, decisionChannel } from "./postgres/groups/group-writer.ts"
export { openInDoubtFiles } from "./postgres/leases/in-doubt-calls.ts"
export type { LeasePolicy } from "./postgres/leases/lease-rules.ts"
export { bookWhileFree } from "./postgres/leases/leases.ts"
export { moveToPostgres, sumStatements } from "./postgres/migration.ts"
export { openPostgresLedger } from "./postgres/postgres-ledger.ts"
export { connect, redactedUrl } from "./postgres/sql/database.ts"
export { createConsoleTables, postgresConsole } from "./postgres/sql/postgres-console.ts"
export { entryRow } from "./postgres/sql/sql-expressions.ts"
export { verifyContents, verifyDatabase } from "./postgres/verification.ts"
export { randomString } from "./random-string.ts"
export { isDebit } from "./rules/adjustments.ts"
export {
  captureHold,
  draftCharge,
  type Hold,
  type HoldRefusal,
  hold
} from "./rules/admission.ts"
export {
  creditAccount,
  type Decision,
  issueKey,
  maxCredits,
  maxKeys,
  refundCall
} from "./rules/decisions.ts"
export {
  type ApiKeyView,
  applyGroup,
  type Group,
  type LedgerSnapshot,
  restoreState
} from "./rules/ledger-state.ts"
export { openAccount } from "./rules/open-account.ts"
export { type SummedUsage, sumUsage, type UsageSum } from "./summed-usage.ts"
export { monthOf, parseTypedTimestamp, timestampOf } from "./utc-calendar.ts"
