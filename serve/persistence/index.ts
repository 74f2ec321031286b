/** SQLite and its threads, the tables of the console, and the request log. */
export { checkpoint, keepLogShort } from "./checkpoints.ts"
export {
  ConsoleDatabase,
  ConsoleUnavailable,
  consoleUnavailable,
  type Statements,
  statementsOf
} from "./console-database.ts"
export { allTables, backedUp, consoleTables, countsOf, TableCount } from "./console-tables.ts"
export { type CsvRow, csvText } from "./csv.ts"
export { insertPortion, readRows } from "./in-thread.ts"
export { runMigrations } from "./migrations.ts"
export { kept, pruneRequests, writeRequests } from "./requests/batches.ts"
export { gatherer } from "./requests/gathered.ts"
export { layerRequestLog } from "./requests/kept-requests.ts"
export {
  type CallsByStatus,
  lastUseDays,
  type NotedRequest,
  type PlaceInRequests,
  RequestLog
} from "./requests/request-log.ts"
export { makeRestorable } from "./restored.ts"
export { betweenCells, betweenRows, type RowsAsText } from "./rows-as-text.ts"
export { type Cell, isBusy, isDamaged, openSqlite, type Row, type Sqlite } from "./sqlite.ts"
export { inOwnThread, makeThread, type Thread } from "./thread.ts"
