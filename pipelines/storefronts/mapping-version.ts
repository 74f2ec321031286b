/** The version of the mapping from feed rows to rows of `storefront`. A store that another version read never waits. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { wordFiles } from "./normalise/category/dictionary.ts"
import { taxonomyFiles } from "./normalise/category/taxonomy.ts"

/**
 * Raise it by one with every change after which the same feed gives other products, variants, collections or categories,
 * except for changes of the word lists and the taxonomy. Then record the rows of the new version, as
 * mapping-version.test.ts says.
 */
export const mappingVersion = 1

const hash = createHash("sha256").update(String(mappingVersion))
for (const file of [...wordFiles(), ...taxonomyFiles()]) hash.update(readFileSync(file))

/** What a run records as `mapping_sha256`: the version, and the data files that decide categories. */
export const mappingHash = hash.digest("hex")
