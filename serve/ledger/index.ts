/** Accounts, keys, credits and their chain, in SQLite or in PostgreSQL. */
export {
  type AccountSummary,
  Administration,
  AdministrationError,
  BackupFailed,
  type Booking,
  type BudgetCredits,
  type KeySummary,
  Line,
  type NewKey,
  OverlapHours,
  operations,
  Scopes,
  ServerUnreachable,
  type UsageOfDay,
  type Verification
} from "./administration.ts"
export { fingerprint, hasValidChecksum, last4, newApiKey, tokenOf } from "./api-key.ts"
export { type Anchor, type AnchorPlace, anchorPlace, placeProblem } from "./chain/anchor.ts"
export { beginning, breakBefore, type ChainHead, chain, type Draft, hashOf, noHead } from "./chain/chain.ts"
export { keepAnchorOf } from "./chain/keep-anchor.ts"
export { recorded, recordedTables } from "./chain/recorded.ts"
export { Account, type ApiKey, Entry, entryTypes, plainEntry, plainKey } from "./chain/records.ts"
export { eachEntryAfter } from "./embedded/checks/entry-checks.ts"
export { verifyFile } from "./embedded/checks/verification.ts"
export { embeddedConsole } from "./embedded/embedded-console.ts"
export { embeddedLedger, ledgerInFile, ledgerOver } from "./embedded/embedded-ledger.ts"
export { embeddedStore, groupWriting } from "./embedded/embedded-store.ts"
export { advanceHead, followChainOfFile } from "./embedded/head.ts"
export { keepAnchorOfFile } from "./embedded/keep-anchor.ts"
export { LedgerFile, ledgerFileIn, openLedgerFile } from "./embedded/ledger-file.ts"
export { markAs } from "./embedded/moved.ts"
export { followEntries, progressIn } from "./embedded/progress.ts"
export type { LedgerStore } from "./embedded/store.ts"
export { bodyInSqlite } from "./embedded/tables.ts"
export { type LedgerInUse, LedgerUnavailable } from "./errors.ts"
export { syncDirectory, syncFile } from "./files.ts"
export { type Held, Ledger, type LedgerAccess } from "./ledger.ts"
export { momentTyped, monthOf, timestampOf } from "./moments.ts"
export { creditsOf, usdOf } from "./money.ts"
export { notingKeys } from "./noted-keys.ts"
export { administerPostgres } from "./postgres/administer.ts"
export { beforeAll, followChainOfDatabase, toTheEnd } from "./postgres/chain/chain.ts"
export { keepAnchorOfDatabase } from "./postgres/chain/keep-anchor.ts"
export { type DecisionEvent, decisionChannel } from "./postgres/groups/group-writer.ts"
export { doubtFiles } from "./postgres/leases/doubt-files.ts"
export type { LeaseHabits } from "./postgres/leases/lease-habits.ts"
export { bookWhileFree } from "./postgres/leases/leases.ts"
export { moveToPostgres, sumStatements } from "./postgres/migration.ts"
export { ledgerInPostgres, postgresLedger } from "./postgres/postgres-ledger.ts"
export { connect, placeOf } from "./postgres/sql/database.ts"
export { asOutage } from "./postgres/sql/outages.ts"
export { createTables, postgresConsole } from "./postgres/sql/postgres-console.ts"
export { bodyInPostgres } from "./postgres/sql/recording.ts"
export { entryRow } from "./postgres/sql/sql-text.ts"
export { verifyContents, verifyDatabase } from "./postgres/verification.ts"
export { randomText } from "./random-text.ts"
export { charge, type Hold, hold, type Refusal, settle } from "./rules/admission.ts"
export {
  creditAccount,
  type Decision,
  issueKey,
  mostCredits,
  mostKeys,
  openAccount,
  refundCall
} from "./rules/decisions.ts"
export { grantChanges } from "./rules/expiring-grants.ts"
export { type ApiKeyView, apply, type Group, restore, type Snapshot } from "./rules/ledger-state.ts"
export { type SummedUsage, sumUp, type UsageSum } from "./summed-usage.ts"
