/**
 * The fields of one item, by their names without prefix. `g:title` and `title` are kept separate, and `g:title` is
 * preferred. A field inside another field, such as the price of `g:shipping`, is not a field of the item.
 */

import { Unusable } from "../page.ts"
import { type ItemElement, isInOrder, loosely, strictly } from "./item-elements.ts"

/** Values of a field in the order of the item, with entities decoded. `title` and `description` may hold HTML. */
export type FieldValues = (name: FieldName) => ReadonlyArray<string>

/** Fields that are read. */
export const fieldNames = [
  "id",
  "item_group_id",
  "title",
  "description",
  "summary",
  "content",
  "link",
  "image_link",
  "additional_image_link",
  "availability",
  "price",
  "sale_price",
  "brand",
  "gtin",
  "google_product_category",
  "product_type",
  "category",
  "shipping_weight",
  "size",
  "color"
] as const
export type FieldName = (typeof fieldNames)[number]

const mayHoldMarkup = (name: FieldName) => name === "description" || name === "summary" || name === "content"

const valueIn = (name: FieldName, element: ItemElement, inOrder: boolean): string => {
  const { attributes, markup, text, within } = element
  if (within.length === 0) return name === "link" && text.trim() === "" ? String(attributes.href ?? "") : text
  if (mayHoldMarkup(name) || (inOrder && name === "title")) return markup
  throw new Unusable(`its ${element.name} holds <${within[0]}>: perhaps a "<" in it is not escaped`)
}

/** Atom also has links to other resources. */
const isMeant = ({ attributes, name }: ItemElement) =>
  name !== "link" || attributes.rel === undefined || attributes.rel === "alternate"

const isRead = new Map<string, FieldName>(fieldNames.map((name) => [name, name]))

/** These names also occur in HTML, and `g:shipping` contains a price. */
const mayBeWithin: ReadonlySet<string> = new Set(["title", "link", "summary", "content", "price", "g:price"])

/** If a tag is not closed, the next fields appear inside it. */
const refuseHidden = (elements: ReadonlyArray<ItemElement>, isField: (written: string) => boolean) => {
  for (const { markup, name, within } of elements) {
    const swallowed = within.find((inner) => isField(inner) && !mayBeWithin.has(inner))
    const hidden = swallowed ?? (markup.includes(`</${name}`) ? `/${name}` : undefined)
    if (hidden !== undefined) throw new Unusable(`its ${name} holds <${hidden}>: perhaps a "<" in it is not escaped`)
  }
}

/** Fails with `Unusable`. `prefixes` are those of Google's namespace, in lower case. */
export const fieldsOf = (
  item: string,
  prefixes: ReadonlySet<string>
): { readonly fields: FieldValues; readonly inOrder: boolean } => {
  const nameOf = (written: string): FieldName | undefined => {
    const [prefix = "", name] = written.split(":", 2)
    if (name === undefined) return isRead.get(prefix)
    return prefixes.has(prefix) ? isRead.get(name) : undefined
  }
  const inOrder = isInOrder(item)
  const strict = inOrder ? strictly(item) : undefined
  const isEnough = strict?.every(({ name, within }) => within.length === 0 || nameOf(name) === undefined) === true
  const elements = isEnough && strict !== undefined ? strict : loosely(item)
  if (!inOrder) refuseHidden(elements, (written) => nameOf(written) !== undefined)
  const google = new Map<FieldName, Array<string>>()
  const plain = new Map<FieldName, Array<string>>()
  for (const element of elements) {
    const name = nameOf(element.name)
    if (name === undefined || !isMeant(element)) continue
    const value = valueIn(name, element, inOrder)
    if (value.trim() === "") continue
    const own = element.name.includes(":") ? google : plain
    const values = own.get(name)
    if (values === undefined) own.set(name, [value])
    else values.push(value)
  }
  return { fields: (name) => google.get(name) ?? plain.get(name) ?? [], inOrder }
}
