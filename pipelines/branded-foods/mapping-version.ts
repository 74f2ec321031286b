/** The version of the mapping from a release to rows. When it changes, releases that were already loaded are loaded again. */
import { createHash } from "node:crypto"
import { countries, derivations, nutrients } from "./normalise/dictionaries.ts"

/**
 * Raise it by one with every change after which the same release becomes other rows: in decoding, normalising, macros,
 * quality flags or the merge of both forms. Then record the rows of the new version, as mapping-version.test.ts says.
 */
export const mappingVersion = 1

/** What a run records as `mapping_sha256`: the version, and the data that decides rows beside the code. */
export const mappingHash = createHash("sha256")
  .update(JSON.stringify([mappingVersion, nutrients, derivations, countries()]))
  .digest("hex")
