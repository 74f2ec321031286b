/**
 * The version of the code that turns payloads into prices. Raise it when the code returns other rows for the same payload,
 * so that the next run rebuilds the data set from the raw archive: `mapping-version.test.ts` fails until then. The catalog
 * needs no version: the hash of a mapping covers its lines, and payloads are read again when it changes. Raise it also if a
 * line of the catalog moves existing prices to other days. If only the catalog changes the golden rows, delete their file
 * and record it again.
 */
export const commodityMappingVersion = 3
