/** SQLite and its threads, the tables of the console, the request log, and the log of changes by hand. */
export { Actor, describeCommand, type LoggedChange, logChange } from "./change-log.ts"
export { keepLogShort } from "./checkpoints.ts"
export {
  ConsoleDatabase,
  ConsoleUnavailable,
  consoleUnavailable,
  makeStatements,
  type Statements
} from "./console-database.ts"
export {
  allTables,
  backedUpTables,
  consoleTables,
  makeRestorable,
  selectCounts,
  TableCount,
  writtenAtStart
} from "./console-tables.ts"
export { type CsvRow, streamCsv } from "./csv.ts"
export { cellSeparator, type EncodedRows, rowSeparator } from "./encoded-rows.ts"
export { loadModules, readRows } from "./in-thread.ts"
export { earlierVersion, prepareLayout } from "./layout.ts"
export {
  type CallsByStatus,
  lastUseDays,
  RequestLog,
  type RequestPosition,
  type RequestRecord
} from "./requests/request-log.ts"
export { layerRequestLog } from "./requests/stored-requests.ts"
export { isBusy, isDamaged, openSqlite, type SqlCell, type Sqlite, type SqliteRow } from "./sqlite.ts"
export { makeThread, runInOwnThread, type Thread } from "./thread.ts"
export { insertWriteBatch } from "./write-batch.ts"
