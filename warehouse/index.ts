/** What other rooms and tests import from the warehouse. */
export { mergeLabelColumn } from "./branded-foods/completed-label.ts"
export { firstOwnAmount, labelColumns } from "./branded-foods/nutrition.ts"
export { isServingUnit, servingAmount, servingUnits } from "./branded-foods/serving-units.ts"
export * from "./data-sets.ts"
export type { DepotUnusable } from "./depot/depot.ts"
export { KeyUnusable, keyFileIn } from "./depot/keys.ts"
export { openSharedDepot } from "./depot/shared.ts"
export { encodePublicKey, makeKeyPair, parsePrivateKey } from "./depot/signed.ts"
export {
  type FileOperationFailed,
  ifMissing,
  isDiskFull,
  makeDigest,
  readPieces,
  syncFile,
  syncFolder
} from "./disk.ts"
export { DuckDb, DuckDbError, identifier, literal, type OpenError } from "./duckdb.ts"
export {
  type HomeUnwritable,
  type Layout,
  layoutOf,
  NoWarehouse,
  openLayout,
  requireCurrentFormat,
  requireWritableFolder
} from "./generation/layout.ts"
export { type ListedGeneration, listGenerations } from "./generation/listing.ts"
export { withLock } from "./generation/lock.ts"
export {
  type DataSetEntry,
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  type ManifestUnusable,
  newestManifest
} from "./generation/manifest.ts"
export { type PartDamaged, verifyDataSet } from "./generation/parts.ts"
export { catchUp, pull } from "./generation/pull.ts"
export { keptSetting, pruneLocal } from "./generation/retention.ts"
export { isLakeEnabled, writeLake, writeLakeIfEnabled } from "./lake/setting.ts"
export { followDepot } from "./live/follow.ts"
export { type Live, watchLive } from "./live/live.ts"
export type { LiveData } from "./live/open-data-sets.ts"
export type { Generation, Loading } from "./live/open-generation.ts"
export { openServedFoods } from "./live/served-foods.ts"
export { countStates, dropEnded, type FreshnessRow, readFreshness, type StateCounts } from "./notices/freshness.ts"
export { makeCheckNotice, makeRollbackNotice, makeRunNotice } from "./notices/notice.ts"
export { notifyFreshnessOnce } from "./notices/notified-file.ts"
export { type NotifiedStates, notifyFreshness } from "./notices/notify-freshness.ts"
export { postNotice, postOrWarn, promptly, type Webhook, webhookFromSettings } from "./notices/webhook.ts"
export { refreshOpened } from "./opened/opened-files.ts"
export { findReadable } from "./opened/parts.ts"
export * from "./opened/runs.ts"
export { writeSnapshot } from "./opened/snapshot.ts"
export { type Check, ChecksFailed } from "./publishing/check.ts"
export { attachLiveData, readLive, readLiveDataSet, requirePublishable } from "./publishing/live-data-set.ts"
export { assignments } from "./publishing/merge.ts"
export { ConcurrentPublication, requireNoRollback } from "./publishing/promote.ts"
export { publish } from "./publishing/publish.ts"
export { rebuildFrom } from "./publishing/rebuild.ts"
export { recordFailedRun, recordKilledRuns } from "./publishing/record.ts"
export { rollback } from "./publishing/rollback.ts"
export {
  makeOwnFolder,
  type Staging,
  StagingFailed,
  stage,
  stagingFolder,
  whileNoRunIsActive
} from "./publishing/staging.ts"
export { measureRange, type Points, serializeRange } from "./read-models/points.ts"
export type { StoreLists } from "./read-models/store-lists.ts"
export { createPossiblyIncompleteTable, possiblyIncompleteTable, sawAll } from "./storefronts/reconcile.ts"
export { commentStatements } from "./tables/dictionary.ts"
export {
  cursorTable,
  oddValueTable,
  rawFileTable,
  rejectTable,
  storeReadTable,
  unknownFieldTable
} from "./tables/ingest-tables.ts"
export type { DataSet } from "./tables/tables.ts"
export {
  findUnreadable,
  hasOlderMapping,
  type NewerDataSet,
  OtherMapping,
  requireKnownIngest,
  requireNoNewerMapping,
  requireNotNewer,
  type TablesDiffer
} from "./tables/versions.ts"
