/** The mapping from a release to rows, with its dictionaries. When it changes, releases that were already loaded are loaded again. */
import { createHash } from "node:crypto"
import { servingUnits } from "@larder/warehouse"
import { labelMappingVersion } from "./mapping-version.ts"
import { countries, derivations, nutrients } from "./normalise/dictionaries.ts"

/** Recorded as `mapping_sha256`: a hash of the version and of the data that affects the rows. */
export const labelMappingHash = createHash("sha256")
  .update(JSON.stringify([labelMappingVersion, nutrients, derivations, countries(), servingUnits]))
  .digest("hex")
