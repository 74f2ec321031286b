/**
 * The version of the mapping from feed rows to rows of `storefront`. When it changes, the next run rebuilds the data set
 * from the raw archive.
 */

/**
 * Raise it by one with every change after which the same feed becomes different products, variants, collections or
 * categories, except for changes of the word lists and the taxonomy. Then record the rows of the new version
 * (docs/contributing.md).
 */
export const mappingVersion = 4
