/**
 * The public surface of the schemas: records, endpoints, parameters and errors of the API, and columns of the
 * warehouse.
 */

export * from "./api-errors.ts"
export * from "./data-sets.ts"
export { addDays, Day, dayOf, isDay, Timestamp, yearsBefore } from "./dates.ts"
export { numberToken, PublishedNumber, parseJsonKeepingNumbers } from "./decimals.ts"
export { annotationOf, codesOf, listCodes } from "./described.ts"
export { type Endpoint, type QueryNames, templateOf } from "./endpoint.ts"
export { codeNames, type ErrorCode, errorCodes } from "./error-codes.ts"
export { errorTypes } from "./error-types.ts"
export * from "./ingest.ts"
export * from "./ingest-views.ts"
export { componentSchemas, jsonSchema } from "./json-schema.ts"
export { suggestName } from "./nearest.ts"
export { idSources } from "./openapi/texts.ts"
export { openApi } from "./openapi.ts"
export { foreignCursor, type Parameters, type Read, type Values } from "./parameters.ts"
export {
  defaultOf,
  failSetting,
  isLoopback,
  isSafeInTransit,
  settingOf,
  settingSections,
  testSettings,
  yesOrNoSetting
} from "./settings.ts"
export { version } from "./version.ts"
