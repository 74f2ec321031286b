/** Lists within a product, and how long they may be: a payload of 32 MB has room for millions of entries, a product has none. */
import { listOf } from "./answers.ts"
import { Unusable } from "./page.ts"
import { tidied } from "./texts.ts"

/** Shopify allows this many. */
export const mostVariants = 2048
/** Shopify allows 250. */
export const mostPictures = 1000
/** Shopify allows 250. */
export const mostTags = 1000

/** Fails with `Unusable` where the list is longer. What is no list is an empty one. */
export const listUpTo = (most: number, value: unknown, what: string): ReadonlyArray<unknown> => {
  const list = listOf(value)
  if (list.length > most) throw new Unusable(`it has ${list.length} ${what}, and up to ${most} are read`)
  return list
}

/** Tags as a list, or as a text with commas; each once. Fails with `Unusable`. */
export const tagsOf = (value: unknown): ReadonlyArray<string> => {
  const stated = typeof value === "string" ? value.split(",") : value
  return [
    ...new Set(
      listUpTo(mostTags, stated, "tags")
        .map(tidied)
        .filter((tag) => tag !== null)
    )
  ]
}
