/** What other rooms and the tests import of the warehouse: publishing, generations, what is live, read models, search and the lake. */
export { completedLabel } from "./branded-foods/completed-label.ts"
export { firstOwnAmount, labelColumns } from "./branded-foods/nutrition.ts"
export * from "./data-sets.ts"
export { type Depot, type DepotUnusable, datedObjects, hintName, objectName, putObject } from "./depot/depot.ts"
export { folderDepot } from "./depot/folder.ts"
export { httpDepot } from "./depot/http.ts"
export { proven } from "./depot/proven.ts"
export { Patience } from "./depot/requests.ts"
export { type Bucket, s3Depot } from "./depot/s3.ts"
export { newKey, privateKeyFrom, publicHalfOf } from "./depot/signed.ts"
export { makeDigest, syncFile, syncFolder } from "./disk.ts"
export { DuckDb, DuckDbError, identifier, literal, type OpenError, type Row } from "./duckdb.ts"
export { catchUp } from "./generation/catch-up.ts"
export {
  type HomeUnwritable,
  ifMissing,
  type Layout,
  layoutOf,
  NoWarehouse,
  requirePresentForm,
  writableDirectory
} from "./generation/layout.ts"
export { type ListedGeneration, listGenerations } from "./generation/listing.ts"
export { withLock } from "./generation/lock.ts"
export {
  type DataSetEntry,
  generationId,
  isLoaded,
  keptManifestsOf,
  listNumbers,
  type Manifest,
  type ManifestUnusable,
  newestManifest,
  readManifest
} from "./generation/manifest.ts"
export { KeyUnusable, keyFileIn, openLayout } from "./generation/open-layout.ts"
export { objectIdOf, type PartDamaged, verifiedDatabase } from "./generation/parts.ts"
export { pull } from "./generation/pull.ts"
export { keptSetting, prune, pruneLocal } from "./generation/retention.ts"
export type { IngestionNotWritten } from "./ingestion/file.ts"
export { stagedIn, writeRecordsOfRun } from "./ingestion/records.ts"
export { followWithLake } from "./lake/follow.ts"
export { updateLake } from "./lake/lake.ts"
export { lakeSetting } from "./lake/setting.ts"
export { followDepot } from "./live/follow.ts"
export { type Generation, type Live, type LiveData, type Loading, watchLive } from "./live/live.ts"
export { fromLive, liveDataSetOf, requirePublishable } from "./live/previous.ts"
export {
  countingRuns,
  hasFailed,
  isLate,
  isOfSamples,
  liveStates,
  newestFirst,
  type PastRun,
  type PipelineState,
  pastRuns,
  pipelineStates,
  recordedRun,
  runColumns,
  timestampColumn
} from "./live/runs.ts"
export { openServedFoods } from "./live/sidecar-files.ts"
export { refreshOpened } from "./opened/opened-files.ts"
export { dataSetFileOf, type Parts, readableOf } from "./opened/parts.ts"
export { pullAlone } from "./opened/pull-alone.ts"
export { snapshot } from "./opened/snapshot.ts"
export { type Check, ChecksFailed, runChecks } from "./publishing/check.ts"
export { assignments } from "./publishing/complete.ts"
export { publish } from "./publishing/publish.ts"
export { rebuildFrom } from "./publishing/rebuild.ts"
export { PublishedMeanwhile, recordEnd, recordKilledRuns, recordRun, requireStillKnown } from "./publishing/record.ts"
export { rollback } from "./publishing/rollback.ts"
export {
  folderOf,
  ownFolder,
  type Staged,
  type Staging,
  StagingFailed,
  stage,
  whileNobodyRuns
} from "./publishing/staging.ts"
export { jsonOfRange, lengthOfRange, type Points, serializePoints } from "./read-models/points.ts"
export type { ListPosition, StoreLists } from "./read-models/store-lists.ts"
export type { StorePosition } from "./read-models/stores.ts"
export { buildFoods } from "./search/build/build.ts"
export { openFoods } from "./search/open.ts"
export { createHalfProductTable, halfProductTable } from "./storefronts/reconcile.ts"
export { commentsOf, define, definitionHash } from "./tables/dictionary.ts"
export type { TablesDiffer } from "./tables/earlier-versions.ts"
export {
  cursorTable,
  ingestTables,
  ingestViews,
  rawFileTable,
  rejectTable,
  runTable,
  stagedIngestTables,
  storeReadTable,
  unknownFieldTable
} from "./tables/ingest-tables.ts"
export { type NewerDataSet, newerIn, requireKnown, requireKnownIngest } from "./tables/newer-versions.ts"
export { cellsOf, type DataSet, type Records, type Table, viewsOf } from "./tables/tables.ts"
