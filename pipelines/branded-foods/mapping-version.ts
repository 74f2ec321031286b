/** The version of the mapping from a release to rows. When it changes, releases that were already loaded are loaded again. */
import { createHash } from "node:crypto"
import { countries, derivations, nutrients } from "./normalise/dictionaries.ts"

/** Raise it by one if the same release becomes different rows, and record the new golden rows (docs/contributing.md). */
export const labelMappingVersion = 2

/** Recorded as `mapping_sha256`: a hash of the version and of the data that affects the rows. */
export const labelMappingHash = createHash("sha256")
  .update(JSON.stringify([labelMappingVersion, nutrients, derivations, countries()]))
  .digest("hex")
