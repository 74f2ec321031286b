/**
 * Reads the fields of one item, by their names without prefix. `g:title` is preferred to `title`. A field inside
 * another field, such as the price of `g:shipping`, is not a field of the item.
 */
import { UnusableRow } from "../feed-errors.ts"
import type { FeedStats } from "../feed-stats.ts"
import { googleRoles } from "../field-roles.ts"
import { type FieldName, fieldNames } from "./field-names.ts"
import { checkWellFormed, type ItemElement, parseElements } from "./item-elements.ts"
import { addGooglePrefixes } from "./xml-tags.ts"

/** Values of a field in the order of the item. Texts have decoded entities; fields that may contain HTML are unchanged. */
export type FieldValues = (name: FieldName) => ReadonlyArray<string>

const mayContainMarkup = (name: FieldName) => name === "description" || name === "summary" || name === "content"

/** "" for an optional field that contains elements. If the item is not well-formed, they may be fields themselves. */
const readValue = (name: FieldName, element: ItemElement, isWellFormed: boolean, stats: FeedStats): string => {
  const { attributes, markup, text, innerNames } = element
  if (innerNames.length === 0) return name === "link" && text.trim() === "" ? (attributes.href ?? "") : text
  if (mayContainMarkup(name) || (isWellFormed && name === "title")) return markup
  if (isWellFormed && googleRoles[name] === "optional") {
    stats.recordOddValue(name, markup)
    return ""
  }
  throw new UnusableRow(`its ${element.name} contains <${innerNames[0]}>: perhaps a "<" in it is not escaped`)
}

/** Atom also has links to other resources than the item. */
const isOtherLink = ({ attributes, name }: ItemElement) =>
  name === "link" && attributes.rel !== undefined && attributes.rel !== "alternate"

const knownNames = new Map<string, FieldName>(fieldNames.map((name) => [name, name]))

/** These names also occur in HTML, and `g:shipping` contains a price. */
const mayBeNested: ReadonlySet<string> = new Set(["title", "link", "summary", "content", "price", "g:price"])

/** If a tag is not closed, the next fields appear inside it. */
const rejectNestedFields = (elements: ReadonlyArray<ItemElement>, isField: (elementName: string) => boolean) => {
  for (const { markup, name, innerNames } of elements) {
    const nested = innerNames.find((inner) => isField(inner) && !mayBeNested.has(inner))
    const hidden = nested ?? (markup.includes(`</${name}`) ? `/${name}` : undefined)
    if (hidden !== undefined)
      throw new UnusableRow(`its ${name} contains <${hidden}>: perhaps a "<" in it is not escaped`)
  }
}

/** The feed's prefixes for Google's namespace, and those that elements of the item bind themselves. */
const withOwnPrefixes = (feedPrefixes: ReadonlySet<string>, item: string): ReadonlySet<string> => {
  if (!item.includes("xmlns:")) return feedPrefixes
  const prefixes = new Set(feedPrefixes)
  addGooglePrefixes(item, prefixes)
  return prefixes
}

/** Fails with `UnusableRow`. `feedPrefixes` are the prefixes of Google's namespace, in lower case. */
export const readFields = (
  item: string,
  feedPrefixes: ReadonlySet<string>,
  stats: FeedStats
): { readonly fields: FieldValues; readonly isWellFormed: boolean } => {
  const prefixes = withOwnPrefixes(feedPrefixes, item)
  /** Some programs write the prefix twice: `g:g:id`. */
  const findFieldName = (elementName: string): FieldName | undefined => {
    const parts = elementName.split(":")
    const name = parts.pop() ?? ""
    return parts.every((prefix) => prefixes.has(prefix)) ? knownNames.get(name) : undefined
  }
  const isWellFormed = checkWellFormed(item)
  const elements = parseElements(item, isWellFormed)
  if (!isWellFormed) rejectNestedFields(elements, (elementName) => findFieldName(elementName) !== undefined)
  const google = new Map<FieldName, Array<string>>()
  const plain = new Map<FieldName, Array<string>>()
  for (const element of elements) {
    const name = findFieldName(element.name)
    if (name === undefined || isOtherLink(element)) continue
    const value = readValue(name, element, isWellFormed, stats)
    if (value.trim() === "") continue
    const fields = element.name.includes(":") ? google : plain
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  return { fields: (name) => google.get(name) ?? plain.get(name) ?? [], isWellFormed }
}
