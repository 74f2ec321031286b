/**
 * The mapping from feed rows to rows of `storefront`, with the data files that determine categories. A store that was read
 * with another one is due immediately.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { mappingVersion } from "./mapping-version.ts"
import { listWordFiles } from "./normalise/category/dictionary.ts"
import { listTaxonomyFiles } from "./normalise/category/taxonomy.ts"

const hash = createHash("sha256").update(String(mappingVersion))
for (const file of [...listWordFiles(), ...listTaxonomyFiles()]) hash.update(readFileSync(file))

/** Recorded as `mapping_sha256`. */
export const mappingHash = hash.digest("hex")
