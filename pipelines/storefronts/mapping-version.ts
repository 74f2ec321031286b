/**
 * The version of the mapping from feed rows to rows of `storefront`. A store that was read with another version is due
 * immediately.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { listWordFiles } from "./normalise/category/dictionary.ts"
import { listTaxonomyFiles } from "./normalise/category/taxonomy.ts"

/**
 * Raise it by one with every change after which the same feed becomes different products, variants, collections or
 * categories, except for changes of the word lists and the taxonomy. Then record the rows of the new version
 * (docs/contributing.md).
 */
export const mappingVersion = 1

const hash = createHash("sha256").update(String(mappingVersion))
for (const file of [...listWordFiles(), ...listTaxonomyFiles()]) hash.update(readFileSync(file))

/** Recorded as `mapping_sha256`: hash of the version and of the data files that determine categories. */
export const mappingHash = hash.digest("hex")
