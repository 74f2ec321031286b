/** What other rooms and tests import from the warehouse. */
export { mergeLabelColumn } from "./branded-foods/completed-label.ts"
export { firstOwnAmount, labelColumns } from "./branded-foods/nutrition.ts"
export { isServingUnit, servingAmount, servingUnits } from "./branded-foods/serving-units.ts"
export * from "./data-sets.ts"
export { type Depot, type DepotUnusable, hintName, listObjectTimes, objectName, putObject } from "./depot/depot.ts"
export { folderDepot } from "./depot/folder.ts"
export { httpDepot } from "./depot/http.ts"
export { proveDepot } from "./depot/prove-depot.ts"
export { RequestLimits } from "./depot/requests.ts"
export { type Bucket, s3Depot } from "./depot/s3.ts"
export { encodePublicKey, makeKeyPair, parsePrivateKey } from "./depot/signed.ts"
export { type FileOperationFailed, makeDigest, syncFile, syncFolder } from "./disk.ts"
export { DuckDb, DuckDbError, identifier, literal, type OpenError, type Row } from "./duckdb.ts"
export {
  type HomeUnwritable,
  ifMissing,
  KeyUnusable,
  keyFileIn,
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
  mappingOf,
  newestManifest,
  readKeptManifests,
  readManifest
} from "./generation/manifest.ts"
export { identifyFile, type PartDamaged, verifyDataSet } from "./generation/parts.ts"
export { catchUp, pull } from "./generation/pull.ts"
export { keptSetting, prune, pruneLocal } from "./generation/retention.ts"
export { stagedRecords, writeRecordsOfRun } from "./ingestion/records.ts"
export { updateLake } from "./lake/lake.ts"
export { lakeSetting, updateLakeIfEnabled } from "./lake/setting.ts"
export { followDepot } from "./live/follow.ts"
export { type Generation, type Live, type LiveData, type Loading, watchLive } from "./live/live.ts"
export { readLive, readLiveDataSet, requirePublishable } from "./live/live-data-set.ts"
export * from "./live/runs.ts"
export { openServedFoods } from "./live/sidecar-files.ts"
export { refreshOpened } from "./opened/opened-files.ts"
export { findReadable, type Parts } from "./opened/parts.ts"
export { writeSnapshot } from "./opened/snapshot.ts"
export { type Check, ChecksFailed, runChecks } from "./publishing/check.ts"
export { assignments } from "./publishing/merge.ts"
export { publish } from "./publishing/publish.ts"
export { rebuildFrom } from "./publishing/rebuild.ts"
export {
  ConcurrentPublication,
  recordFailedRun,
  recordKilledRuns,
  recordRun,
  requireNoRollback
} from "./publishing/record.ts"
export { rollback } from "./publishing/rollback.ts"
export {
  makeOwnFolder,
  type Staged,
  type Staging,
  StagingFailed,
  stage,
  stagingFolder,
  whileNoRunIsActive
} from "./publishing/staging.ts"
export * from "./read-models/points.ts"
export type { ListPosition, StoreLists } from "./read-models/store-lists.ts"
export type { StorePosition } from "./read-models/stores.ts"
export { buildFoods } from "./search/build/build.ts"
export { openFoods } from "./search/open.ts"
export { createPossiblyIncompleteTable, possiblyIncompleteTable } from "./storefronts/reconcile.ts"
export { commentStatements, define, definitionHash } from "./tables/dictionary.ts"
export {
  cursorTable,
  ingestTables,
  ingestViews,
  oddValueTable,
  rawFileTable,
  rejectTable,
  runTable,
  stagedIngestTables,
  storeReadTable,
  unknownFieldTable
} from "./tables/ingest-tables.ts"
export { type DataSet, type RowValues, type Table, toCells, viewsOf } from "./tables/tables.ts"
export {
  findNewer,
  hasOlderMapping,
  type NewerDataSet,
  OtherMapping,
  requireKnown,
  requireKnownIngest,
  requireNoNewerMapping,
  type TablesDiffer
} from "./tables/versions.ts"
